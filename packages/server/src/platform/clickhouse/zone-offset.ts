import type { Offset } from '../time-zone.ts'

/** The offset from UTC at a moment, in ClickHouse. @param perSecond 1 for seconds, 1000 for milliseconds, of both */
export function offsetInSql(unix: string, offsets: readonly Offset[], perSecond = 1): string {
  const last = (offsets.at(-1)?.seconds ?? 0) * perSecond
  if (offsets.length < 2) return String(last)
  const until = offsets
    .slice(1)
    .map(
      ({ sinceMs }, index) =>
        `${unix} < ${(sinceMs * perSecond) / 1000}, ${(offsets[index]?.seconds ?? 0) * perSecond}`,
    )
  return `multiIf(${until.join(', ')}, ${last})`
}
