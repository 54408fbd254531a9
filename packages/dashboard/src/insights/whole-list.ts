import { queryOf } from '../api/operation.ts'
import type { ListName } from './web-lists.ts'
import type { WebQuestion } from './web-question.ts'

/** The most rows that the service returns of a list. */
export const ROWS_MAX = 100

/** One list of a question with as many rows as possible. */
export function wholeList({ compare: _, goals: __, interval: ___, ...question }: WebQuestion, list: ListName) {
  return queryOf('insightWeb', { ...question, lists: [list], limit: ROWS_MAX })
}
