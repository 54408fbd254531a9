import type { Kind } from '../../platform/personal.ts'
import { fold } from './pseudonyms.ts'

/**
 * Words that are never replaced on their own, even if they are someone's name: function words and placeholders. Anyone can
 * enter "the" as a name in a form, and a text without "the" is unreadable. Together with the surname, the name is still
 * replaced. Words that are both names and ordinary words (Will, Mark, Page) are replaced: a few illegible verbs are better
 * than a name that is shown.
 */
const NEVER_ALONE = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
  could da de del den der des di did do does doing down du during each el en few for from further had has have having he her
  here hers him his how i if im in into is it its just la le les los me more most my no nor not now of off on once only or
  other our out over own per same she should so some such than that the their them then there these they this those through
  to too under until up us very via von van was we were what when where which while who whom why with would yes you your
  y et un une und ein eine das die dem mit zu bei fur auf
  admin anonymous customer email false guest info kunde lead mr mrs ms dr na name nan new nil none null ok test true undefined
  unknown user value id www http https com org net`.split(/\s+/),
)

/** Local parts of addresses that belong to a function and not to a person. */
export const ROLE_ADDRESSES = new Set(
  `abuse accounting accounts admin billing contact customer enquiries feedback hello help hostmaster hr info inquiries invoice
  jobs legal mail marketing media news newsletter noreply no-reply office orders owner postmaster press privacy sales security
  service shop support team test webmaster welcome`.split(/\s+/),
)

/** Scripts without spaces between words, in which two characters can be a name. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/**
 * Whether one word of a name is looked for on its own. One letter never is. Two letters (Jo, Li) are replaced only as
 * they are spelled, with a capital: `to` and `id` are too common.
 */
export function mayStandAlone(word: string): boolean | 'as-spelled' {
  const folded = fold(word)
  const { length } = [...folded]
  if (NEVER_ALONE.has(folded) || /^\d*$/.test(folded)) return false
  if (UNSPACED.test(word)) return length >= 2
  if (length >= 3) return true
  return length === 2 && /^\p{Lu}/u.test(word) ? 'as-spelled' : false
}

/** Whether one or two words in lower case may be a first or last name, so that a lookup is worthwhile. */
export function mayBeName(words: string): boolean {
  return words.length >= 2 && !/\d/.test(words) && !words.startsWith(' ') && !NEVER_ALONE.has(words)
}

/** Whether a whole value is distinctive enough to be looked for: at least three characters, or four digits. */
export function isDistinctive(words: readonly string[]): boolean {
  const text = words.join('')
  if (words.every((word) => NEVER_ALONE.has(word))) return false
  if (/^\d*$/.test(text)) return text.length >= 4
  return text.length >= (UNSPACED.test(text) ? 2 : 3)
}

export function isName(kind: Kind): boolean {
  return kind === 'firstname' || kind === 'lastname' || kind === 'name'
}
