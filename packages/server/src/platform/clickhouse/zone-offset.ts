import type { Offset } from '../time-zone.ts'

/** The offset from UTC at a moment, in seconds, in ClickHouse. */
export function offsetInSql(unix: string, offsets: readonly Offset[]): string {
  const last = offsets.at(-1)?.seconds ?? 0
  if (offsets.length < 2) return String(last)
  const until = offsets
    .slice(1)
    .map(({ sinceMs }, index) => `${unix} < ${sinceMs / 1000}, ${offsets[index]?.seconds ?? 0}`)
  return `multiIf(${until.join(', ')}, ${last})`
}
