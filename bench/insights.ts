import { load, withKey } from './load.ts'
import { INSIGHTS } from './queries.ts'
import { latency, milliseconds, progress, report } from './report.ts'
import type { Target } from './target.ts'

/** A condition that every event meets, another one for each number. */
export function isNot(number: number) {
  return { property: 'country', operator: 'not_equals', value: `none-${number}` }
}

/** Questions of insights, one at a time: asked anew each time, and the same one again. */
export async function measureInsights({ raw, size }: Target): Promise<void> {
  const headers = withKey(raw.apiKey)
  for (const { name, path, asks, aim } of INSIGHTS) {
    progress(name)
    let asked = 0
    // Another question each time, because answers are kept for a minute.
    const anew = () => ({ path, body: JSON.stringify({ ...asks, where: [isNot(asked++)] }) })
    const measured = await load({ connections: 1, seconds: size.seconds, headers, next: anew })
    const bare = raw.byOne[name]?.p50Ms ?? 0
    const limit = `p50 ${milliseconds(bare)} bare, without people`
    report({ what: name, measured: latency(measured), limit, ratio: bare / measured.p50Ms, aim, cost: measured.p50Ms })
  }
  const [first] = INSIGHTS
  if (first === undefined) return
  const again = { path: first.path, body: JSON.stringify(first.asks) }
  const measured = await load({ connections: 1, seconds: size.seconds, headers, next: () => again })
  const one = raw.selectOne.p50Ms
  report({
    what: `${first.name}, the same again`,
    measured: latency(measured),
    limit: `p50 ${milliseconds(one)} SELECT 1`,
    ratio: one / measured.p50Ms,
    aim: 'kept',
    cost: measured.p50Ms,
  })
}
