import { type NamedTarget, plainHeader } from './column-names.ts'
import { partsOfName } from './full-name.ts'

/** Names that mean the whole name in one file, and one half of it beside a column with the other half. */
const MAY_BE_HALF: ReadonlySet<string> = new Set(
  ['Name', 'Nom', 'Nombre', 'Nome', 'Naam', 'Namn', 'Navn', 'Nimi', '名前'].map(plainHeader),
)

interface Seen {
  header: string
  samples: readonly string[]
}

/** Decides what the columns are that are named like ones with whole names. */
export function withNames(columns: readonly Seen[], wanted: readonly (NamedTarget | null)[]): (NamedTarget | null)[] {
  const has = (target: string) => wanted.some((each) => each?.target === target)
  const others = { hasFirst: has('firstname'), hasLast: has('lastname') }
  return wanted.map((each, column) => {
    const seen = columns[column]
    if (each?.target !== 'full_name' || seen === undefined) return each
    const target = targetOfNameColumn(seen, others)
    return target === null ? null : { ...each, target }
  })
}

/**
 * What a column is that is named like one with whole names: `full_name`, which is divided into first and last name; the half
 * that the file lacks, as in `Vorname;Name` and `Nombre;Apellidos`; or null, a property of its own.
 */
function targetOfNameColumn(
  { header, samples }: Seen,
  others: { hasFirst: boolean; hasLast: boolean },
): 'full_name' | 'firstname' | 'lastname' | null {
  if (others.hasFirst && others.hasLast) return null
  if (MAY_BE_HALF.has(plainHeader(header))) {
    if (others.hasFirst) return 'lastname'
    if (others.hasLast) return 'firstname'
  }
  const people = samples.filter((sample) => partsOfName(sample) !== null)
  return samples.length > 0 && people.length * 2 < samples.length ? null : 'full_name'
}
