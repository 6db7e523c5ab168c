// Texts to click. One may name the model that it is about, where that is loaded.

export const EXAMPLES = [
  { task: "ner", text: "Jane Villanueva of United Airlines" },
  { task: "tag", text: "Janet will back the bill", model: "en-pos-janet" },
  { task: "tag", text: "Time flies like an arrow; fruit flies like a banana." },
  {
    task: "ner",
    text: "Marie Curie left Warsaw for Paris in 1891. There she met Pierre, and taught at the Sorbonne.",
  },
  { task: "ner", text: "📷 by Kim Novak, 👩‍👩‍👧 in São Paulo 🇧🇷" },
  { task: "ner", text: "שמעון פרס met Angela Merkel in Berlin." },
];
