import Type from 'typebox'
import { isConsent } from '../contacts/consent.ts'
import { LIFECYCLE_STAGES } from '../contacts/property-catalogue.ts'
import { firstCharacters } from '../platform/characters.ts'
import { WORD } from '../platform/personal.ts'
import { emailOf } from './cells.ts'
import { OWN, plainHeader } from './column-names.ts'
import { guessOf, habitsOf } from './guess-format.ts'
import { type Recognized, targetOf } from './known-exports.ts'
import { type ColumnMapping, isUsable, NAME_LENGTH_MAX } from './mapping.ts'
import { withNames } from './name-columns.ts'
import { stageOf } from './values.ts'

/** Why a column goes where the proposal sends it. */
export const ColumnNote = Type.Object(
  {
    code: Type.Enum(['same_target', 'found_by_values', 'no_name', 'consent'], {
      description:
        '`same_target`: another column suits the target better, so this one became a property of its own. `found_by_values`: its values are addresses. `no_name`: it has no name, and is ignored. `consent`: contacts that opt out in it get no mail.',
    }),
    target: Type.Optional(Type.String({ description: 'With `same_target`: the target, or the property.', ...WORD })),
    column: Type.Optional(Type.Integer({ description: 'With `same_target`: the index of the column that has it.' })),
  },
  { title: 'ImportColumnNote' },
)
export type ColumnNote = Type.Static<typeof ColumnNote>

/** What the first rows show of a column. */
export interface ColumnSeen {
  header: string
  /** Different values. */
  samples: readonly string[]
  filled: number
  addresses: number
  differentAddresses: number
}

/**
 * A proposal for every column, notes for columns whose target may surprise, and the columns whose values fit several formats.
 */
export function proposedMapping(
  columns: readonly ColumnSeen[],
  source: Recognized | null,
  delimiter: string,
): { mapping: ColumnMapping[]; notes: (ColumnNote | null)[]; ambiguous: ReadonlySet<number> } {
  const habits = habitsOf(columns, delimiter)
  const ambiguous = new Set<number>()
  const wanted = withNames(
    columns,
    columns.map((column) => wantedBy(column, source)),
  )
  const winners = winnersOf(columns, wanted)
  const taken = new Set(winners.keys())
  const notes: (ColumnNote | null)[] = columns.map(() => null)
  const mapping = columns.map(({ header, samples }, column): ColumnMapping => {
    const target = wanted[column]?.target
    const won = [...winners].find(([, winner]) => winner === column)?.[0]
    if (won === 'email' && target !== 'email') notes[column] = { code: 'found_by_values' }
    if (won === 'email' || won === 'external_id' || won === 'full_name') return { column, target: won }
    if (target === 'ignore') return { column, target }
    if (header.trim() === '') {
      notes[column] = { code: 'no_name' }
      return { column, target: 'ignore' }
    }
    const property =
      won ?? [header.trim(), ...numbered(header.trim())].find((each) => !taken.has(each) && isUsable(each))
    if (property === undefined) return { column, target: 'ignore' }
    taken.add(property)
    const named = targetOf(header, source)?.target ?? ''
    const other = won === undefined ? winners.get(named) : undefined
    if (other !== undefined) notes[column] = { code: 'same_target', target: named, column: other }
    else if (isConsent(property)) notes[column] = { code: 'consent' }
    const { isAmbiguous = false, ...guess } = guessOf({ header, samples }, property, habits)
    if (isAmbiguous) ambiguous.add(column)
    return { column, target: 'property', property, ...guess }
  })
  return { mapping, notes, ambiguous }
}

function wantedBy({ header, samples }: ColumnSeen, source: Recognized | null) {
  const target = targetOf(header, source)
  // LinkedIn calls the addresses of profiles `URL`.
  if (target === null && samples.length > 0 && samples.every((sample) => LINKEDIN.test(sample))) {
    return { target: 'linkedin_url', rank: Number.MAX_SAFE_INTEGER }
  }
  // `Title` may be "Dr.": that is how to address a person, not what they do.
  if (target?.target === 'jobtitle' && TITLES.includes(plainHeader(header)) && areSalutations(samples)) return null
  // Rows with another stage would fail, and `Stage` may be one of deals.
  if (target?.target === 'lifecyclestage' && target.rank > OWN && !areStages(samples)) return null
  return target
}

const LINKEDIN = /^(?:https?:\/\/)?(?:[a-z]{2,3}\.)?linkedin\.com\/(?:in|pub|profile)\//i
const TITLES = ['title', 'titel']

function areStages(samples: readonly string[]): boolean {
  return samples.every((sample) => (LIFECYCLE_STAGES as readonly string[]).includes(stageOf(sample)))
}

const SALUTATION =
  /^(?:(?:dr|mr|mrs|ms|mx|miss|prof|sir|herr|frau|mme|mlle|m|sr|sra|srta|sig|dott|ing|dhr|mevr|rev)\.?\s*)+$/i

function areSalutations(samples: readonly string[]): boolean {
  return samples.length > 0 && samples.filter((sample) => SALUTATION.test(sample)).length * 2 >= samples.length
}

type Wanted = ReturnType<typeof targetOf>

/** The column of each target that some column wants: the one whose name says it best, and of equal ones the first. */
function winnersOf(columns: readonly ColumnSeen[], wanted: readonly Wanted[]): Map<string, number> {
  const winners = new Map<string, number>()
  const email = emailColumn(columns, wanted)
  for (const [column, each] of wanted.entries()) {
    if (each === null || each.target === 'ignore' || each.target === 'email' || column === email) continue
    const best = winners.get(each.target)
    if (best === undefined || each.rank < (wanted[best]?.rank ?? 0)) winners.set(each.target, column)
  }
  if (email !== null) winners.set('email', email)
  return winners
}

/** Columns with the addresses of others, such as the colleague who keeps the contact. */
const OF_OTHERS =
  /owner|creat|assign|manager|modif|updat|sales|account|referr|assistant|sender|recipient|besitzer|inhaber/i

/**
 * The column with the address: by its name, if its values are addresses; else by its values; else by its name alone.
 */
function emailColumn(columns: readonly ColumnSeen[], wanted: readonly Wanted[]): number | null {
  const candidates = columns.map((seen, column) => {
    const named = wanted[column]?.target === 'email' ? (wanted[column]?.rank ?? null) : null
    const hasAddresses = seen.addresses > 0 && seen.addresses * 2 >= seen.filled
    const areOwn =
      !OF_OTHERS.test(seen.header) && !isConsent(seen.header) && seen.differentAddresses * 2 > seen.addresses
    return { column, named, hasAddresses, isFound: hasAddresses && areOwn, addresses: seen.addresses }
  })
  const byName = candidates.filter(({ named }) => named !== null).sort((a, b) => (a.named ?? 0) - (b.named ?? 0))
  const filled = byName.find(({ hasAddresses }) => hasAddresses)
  const byValues = candidates.filter(({ isFound }) => isFound).sort((a, b) => b.addresses - a.addresses)
  return (filled ?? byValues[0] ?? byName[0])?.column ?? null
}

function numbered(name: string): string[] {
  return Array.from({ length: 9 }, (_, index) => `${firstCharacters(name, NAME_LENGTH_MAX - 2)} ${index + 2}`)
}

/** Counts what the first rows of a column show. */
export function createColumnSeen(header: string): { seen: ColumnSeen; add(cell: string): void } {
  const samples: string[] = []
  const known = new Set<string>()
  const different = new Set<string>()
  const seen = { header, samples, filled: 0, addresses: 0, differentAddresses: 0 }
  return {
    seen,
    add: (cell) => {
      if (cell === '') return
      seen.filled++
      if (!known.has(cell)) samples.push(cell)
      known.add(cell)
      const address = emailOf(cell)
      if (address === null) return
      seen.addresses++
      different.add(address)
      seen.differentAddresses = different.size
    },
  }
}
