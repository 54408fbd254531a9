import type { Query } from '../api/client.ts'

export const PEOPLE_A_PAGE = 20

/** One page of the contacts of a company. */
export function peopleOf(companyId: string, page = 1): Query {
  return { company_id: companyId, page, limit: PEOPLE_A_PAGE, sort_by: 'lastname', sort_dir: 'asc' }
}
