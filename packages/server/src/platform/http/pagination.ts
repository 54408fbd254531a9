import Type from 'typebox'
import { withDefault } from './query-parameters.ts'

/** The maximum page number, from a 32-bit integer. */
const MAX_PAGE = 2_147_483_647

/** The `page` and `limit` parameters of a list. */
export function pageParameters(defaultLimit: number, maxLimit: number) {
  return {
    page: withDefault(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1.' })),
    limit: withDefault(
      Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: 'Records per page.' }),
    ),
  }
}

export const Pagination = Type.Object(
  {
    page: Type.Integer(),
    limit: Type.Integer(),
    total_pages: Type.Integer(),
    total_items: Type.Integer(),
  },
  { title: 'Pagination' },
)

export interface Page {
  page: number
  limit: number
}

export const FIRST_PAGE: Page = { page: 1, limit: 1 }

export function offsetOf({ page, limit }: Page): number {
  return (page - 1) * limit
}

const DEEP_ROWS = 10_000

/** Whether so many rows precede a page that skipping them is expensive. */
export function isDeep(page: Page): boolean {
  return offsetOf(page) >= DEEP_ROWS
}

export function paginationOf({ page, limit }: Page, totalItems: number): Type.Static<typeof Pagination> {
  return { page, limit, total_pages: Math.ceil(totalItems / limit), total_items: totalItems }
}
