import { IS_SOMEBODY, isCounted, visitsOf, type WebQuery } from './web-visits.ts'

export interface GoalFigures {
  people: number
  events: number
}

/** How many people reached each goal, and how often. */
export async function readGoals(query: WebQuery): Promise<GoalFigures[]> {
  const { asked, goals } = query
  if (goals.length === 0) return []
  const figures = goals.flatMap((_, index) => [
    `uniqExactIf(person, ${reachedGoal(index)} AND ${IS_SOMEBODY}) AS people_${index}`,
    `sum(goal_${index}) AS events_${index}`,
  ])
  const [row = {}] = await asked.tenant.events.select<Record<string, number | string>>({
    ...visitsOf(query, { withGoals: true }),
    outer: { columns: figures.join(', '), where: reachesGoals(query) },
  })
  return goals.map((_, index) => ({
    people: Number(row[`people_${index}`] ?? 0),
    events: Number(row[`events_${index}`] ?? 0),
  }))
}

export function reachedGoal(index: number): string {
  return `goal_${index} > 0`
}

/** The condition that a row of visits counts for goals: outside of visits they count too, unless only some visits do. */
export function reachesGoals(query: WebQuery): string {
  return query.only.length > 0 ? isCounted(query) : '1'
}
