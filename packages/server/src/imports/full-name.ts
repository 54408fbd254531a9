/** A person's name in parts; absent parts are not in the name. */
export interface NameParts {
  firstname?: string
  lastname?: string
  /** `Dr.`, `Ms.` */
  salutation?: string
  /** `PhD` */
  name_suffix?: string
}

const SALUTATION =
  /^(?:dr|mr|mrs|ms|mx|miss|mister|madam|sir|dame|lord|lady|prof|professor|doctor|herr|frau|hr|fr|mme|mlle|monsieur|madame|sr|sra|srta|don|doña|sig|sigra|dott|dottssa|ing|dipling|mag|dhr|mevr|mw|rev|capt|hon|phd|med|jur|rernat|hc)$/i
/** A bare `M` or `Fr` without a dot may be a name. */
const ONLY_WITH_DOT = /^(?:fr|hr|don|ing|med|mag|sr|capt|hon|jur|hc)$/i
const DEGREE = /^(?:phd|md|mba|msc|bsc|ma|ba|dds|dvm|jd|llm|llb|cpa|cfa|esq|pe|rn|pmp|mph|dphil|edd|ma?g)$/i
const GENERATION = /^(?:jr|sr|junior|senior|ii|iii|iv)$/i
const PARTICLE =
  /^(?:van|von|vom|der|den|dem|de|del|della|delle|di|da|das|dos|do|du|des|la|le|el|al|bin|ibn|ben|bint|ter|ten|te|zu|zum|zur|af|av|st|san|santa|mac|y|'t|auf)$/i
/** Words that companies have in their names, and people do not. */
const OF_COMPANIES =
  /[\s,(](?:gmbh|mbh|ag|kg|ohg|gbr|ug|e\.?\s?v|inc|llc|llp|lp|ltd|limited|plc|corp|corporation|company|co|s\.?a\.?r\.?l|sarl|sas|s\.?a|s\.?r\.?l|srl|s\.?p\.?a|spa|b\.?v|n\.?v|oy|ab|a\/s|aps|pty|pte|k\.?k|group|holding|holdings|university|universität|stiftung|foundation|agency|agentur|studios|solutions|consulting|services|technologies|systems|labs|associates|verein|verlag|institute|institut|hospital)\.?(?=$|[\s,)])/i
const HAN = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+$/u
const WORDS_MAX = 8
const LENGTH_MAX = 200

/**
 * The parts of a person's name; null if the cell does not look like one, or names a company. `Lovelace, Ada` and `LOVELACE Ada` begin with the
 * last name; `Maria van der Berg` has it from the particle on, and other names have it in their last word.
 */
export function partsOfName(cell: string): NameParts | null {
  if (cell.length > LENGTH_MAX) return null
  const name = cell.normalize('NFC').replace(/\s+/g, ' ').trim()
  if (/[\d@/\\()[\]{}<>:;|_]/.test(name) || !/\p{L}/u.test(name) || OF_COMPANIES.test(name)) return null
  const [before = '', ...after] = name.split(/\s*,\s*/).filter((part) => part !== '')
  const degrees = after.filter((part) => part.split(' ').every(isDegree))
  const others = after.filter((part) => !degrees.includes(part))
  if (others.length > 1) return null
  const [given] = others
  const { salutations, words } = withoutSalutations((given ?? before).split(' '))
  const family = given === undefined ? [] : withoutSalutations(before.split(' ')).words
  if (words.length + family.length === 0 || words.length + family.length > WORDS_MAX) return null
  const suffixes = [...degrees, ...trailingDegrees(words)]
  // "Mrs Patel" has no first name.
  const isOnlyLast = given === undefined && salutations.length > 0 && words.length === 1
  const [first, last] = isOnlyLast ? [[], words] : given === undefined ? divided(words) : [words, family]
  return {
    ...(first.length > 0 ? { firstname: first.join(' ') } : {}),
    ...(last.length > 0 ? { lastname: last.join(' ') } : {}),
    ...(salutations.length > 0 ? { salutation: salutations.join(' ') } : {}),
    ...(suffixes.length > 0 ? { name_suffix: suffixes.join(', ') } : {}),
  }
}

const bare = (word: string) => word.replace(/[.\-’']/g, '')
const isDegree = (word: string) => DEGREE.test(bare(word)) && (/\./.test(word) || /[A-Z].*[A-Z]|^Esq/.test(word))

function isSalutation(word: string): boolean {
  return SALUTATION.test(bare(word)) && (word.endsWith('.') || !ONLY_WITH_DOT.test(bare(word)))
}

function withoutSalutations(all: readonly string[]): { salutations: string[]; words: string[] } {
  const count = all.findIndex((word) => !isSalutation(word))
  // "Miss" alone is a name.
  if (count === -1) return { salutations: [], words: [...all] }
  return { salutations: all.slice(0, count), words: all.slice(count) }
}

/** Takes degrees from the end of the words. */
function trailingDegrees(words: string[]): string[] {
  const degrees: string[] = []
  while (words.length > 2 && isDegree(words.at(-1) ?? '')) degrees.unshift(words.pop() ?? '')
  return degrees
}

/** The first and the last names of words in which nothing divides them. */
function divided(words: readonly string[]): [first: readonly string[], last: readonly string[]] {
  if (words.length === 1) return [words, []]
  const [firstWord = ''] = words
  if (HAN.test(firstWord)) return [words.slice(1), words.slice(0, 1)]
  // LOVELACE Ada: a name in capitals beside one that is not.
  const capitals = words.map((word) => /\p{Lu}{3}/u.test(word) && word === word.toUpperCase())
  if (capitals[0] && !capitals.every(Boolean)) {
    const count = capitals.indexOf(false)
    return [words.slice(count), words.slice(0, count)]
  }
  const particle = words.findIndex((word, index) => index > 0 && index < words.length - 1 && PARTICLE.test(word))
  if (particle > 0) return [words.slice(0, particle), words.slice(particle)]
  const isGeneration = words.length > 2 && GENERATION.test(bare(words.at(-1) ?? ''))
  const last = isGeneration ? 2 : 1
  return [words.slice(0, -last), words.slice(-last)]
}
