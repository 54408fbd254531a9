/** The reply and forward prefixes of mail programs in many languages, with counters such as `Re[2]:`, and list names. */
const PREFIX =
  /^\s*(?:(?:re|aw|antw|antwort|sv|vs|ref|rv|res|odp|ynt|r|fw|fwd|wg|tr|enc|doorst|vb|i|pd|回复|答复|回覆|转发|轉寄|返信)\s*(?:\[\d+\]|\(\d+\))?\s*[:：]\s*|\[[^\]]{1,40}\]\s*)/iu
const PREFIXES_MAX = 20
const KEY_LENGTH_MAX = 200

/**
 * The common part of a conversation's subjects: without reply prefixes and list names, in lower case, with white space
 * folded. An empty key groups no mails.
 */
export function subjectKey(subject: string | null): string {
  let rest = subject ?? ''
  for (let n = 0; n < PREFIXES_MAX; n++) {
    const shorter = rest.replace(PREFIX, '')
    if (shorter === rest) break
    rest = shorter
  }
  return rest.replace(/\s+/gu, ' ').trim().toLowerCase().slice(0, KEY_LENGTH_MAX).toWellFormed()
}
