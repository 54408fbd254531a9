const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** The text of HTML that `escapeHtml` and marked made. */
export function textOf(html: string): string {
  const names = new Map(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]))
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => names.get(entity) ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
