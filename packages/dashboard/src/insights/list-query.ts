import { queryOf } from '../api/operation.ts'
import type { ListName } from './web-lists.ts'
import type { WebQuestion } from './web-question.ts'

/** How many rows a card shows, and the most that the service returns. */
export const [ROWS_SHOWN, ROWS_MAX] = [10, 100]

/** One list of a question. */
export function listQuery(
  { compare: _, goals: __, interval: ___, ...question }: WebQuestion,
  list: ListName,
  limit: number,
) {
  return queryOf('insightWeb', { ...question, lists: [list], limit })
}
