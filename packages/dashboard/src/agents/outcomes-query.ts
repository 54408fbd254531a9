/** Whose proposals are counted: those of so many days. */
export type Period = '90' | '30'

const DAY_MS = 86_400_000

/** The input of the outcomes on a page. The period begins with a day, so that the answer is read again once a day only. */
export function outcomesInput(agentId: string, days: Period | undefined, page: number) {
  const after =
    days === undefined ? {} : { date_after: new Date(Date.now() - Number(days) * DAY_MS).toISOString().slice(0, 10) }
  return { agent_id: agentId, page, limit: 10, ...after }
}
