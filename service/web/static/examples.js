// Texts to click. Those without a name are named by their text; one may be about a
// model, where that is loaded.

export const EXAMPLES = [
  { task: "ner", text: "Jane Villanueva of United Airlines" },
  { task: "tag", text: "Janet will back the bill", model: "en-pos-janet" },
  { name: "Time flies", task: "tag", text: "Time flies like an arrow; fruit flies like a banana." },
  {
    name: "Two sentences",
    task: "ner",
    text: "Marie Curie left Warsaw for Paris in 1891. There she met Pierre, and taught at the Sorbonne.",
  },
  { name: "Emoji", task: "ner", text: "📷 by Kim Novak, 👩‍👩‍👧 in São Paulo 🇧🇷" },
  { name: "Right to left", task: "ner", text: "שמעון פרס met Angela Merkel in Berlin." },
];
