import type { Connection, ConnectionRun, Connector } from '../api/types.ts'
import { text } from './text.ts'

/** Words that are written in capitals in the name of a field. */
const CAPITALS = ['api', 'id', 'url']

/** The counts of one object, as "3 created, 1 failed". */
export function countWords(counts: Readonly<Record<string, number>> | undefined): string {
  // The database returns them in another order.
  const known = Object.keys(text.statuses)
  const ordered = Object.entries(counts ?? {}).sort(([a], [b]) => known.indexOf(a) - known.indexOf(b))
  const words = ordered.map(([status, count]) => text.count(count, status))
  return words.length === 0 ? text.nothing : words.join(', ')
}

/** How many records a run changed, and how many failed. */
export function totalsOf({ counts }: ConnectionRun): { changed: number; failed: number } {
  let [changed, failed] = [0, 0]
  for (const [status, count] of Object.values(counts).flatMap((each) => Object.entries(each))) {
    if (status === 'failed') failed += count
    else if (!['unchanged', 'known', 'ignored'].includes(status)) changed += count
  }
  return { changed, failed }
}

/** `api_token` as "API token". */
export function fieldWords(name: string): string {
  const [first = '', ...rest] = name.split('_').map((word) => (CAPITALS.includes(word) ? word.toUpperCase() : word))
  return [first.slice(0, 1).toUpperCase() + first.slice(1), ...rest].join(' ')
}

/** The name of a connection's system for people. */
export function labelOf({ connector }: Connection, connectors: readonly Connector[] | undefined): string {
  return connectors?.find(({ name }) => name === connector)?.label ?? fieldWords(connector)
}
