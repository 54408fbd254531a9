import Type from 'typebox'
import { SUMMARY_PROPERTIES } from '../../contacts/property-catalogue.ts'
import type { Values } from '../../operations/declare.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { compactRecord, listResult, pick, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { checkComparisons, requireSortable, SORT_DESCRIPTION } from './comparisons.ts'
import { rowsOf, totalOf } from './contacts.ts'
import { pageInput, ROWS, segmentFilter } from './inputs.ts'
import { companyRow, count, listOf, pageOf, record, text } from './outputs.ts'

const ROW = ['company_id', 'name', 'domain', 'properties', 'created_at']

export const COMPANY_TOOLS: readonly Tool[] = [
  tool({
    name: 'search_companies',
    title: 'Search companies',
    description:
      'Find and count companies by words in name or domain, or by properties. Returns the total and short rows.',
    uses: ['listCompanies'],
    input: {
      query: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words in name or domain.' })),
      filter: Type.Optional(segmentFilter),
      fields: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'Properties to return, separated by commas; default: all.' }),
      ),
      sort_by: Type.Optional(Type.Enum(['createdate', 'name'], { description: SORT_DESCRIPTION })),
      sort_dir: Type.Optional(Type.Enum(['asc', 'desc'])),
      ...pageInput,
    },
    output: pageOf('companies', companyRow),
    async run(call, { query, filter, fields, limit = ROWS, cursor, ...rest }) {
      const place = placeOf(cursor, limit)
      await checkComparisons(call, 'companies', filter)
      requireSortable(call, rest.sort_by)
      call.refusePseudonyms({ filter })
      const result = await call.operate('listCompanies', { ...rest, search: query, filter, ...place })
      const rows = rowsOf(result.companies, ROW).map((row) => withProperties(row, fields))
      return listResult('companies', rows, place, totalOf(result))
    },
  }),
  tool({
    name: 'get_company',
    title: 'Get a company',
    description: 'All properties of one company and, with the scope contacts:read, its first contacts.',
    uses: ['getCompany'],
    input: { company_id: idInput() },
    output: {
      company: record({ ...companyRow, external_id: text, updated_at: text }),
      total_contacts: Type.Optional(count),
      contacts: Type.Optional(
        listOf(
          record({
            contact_id: text,
            ...Object.fromEntries(SUMMARY_PROPERTIES.map((name) => [name, Type.Optional(Type.Unknown())])),
          }),
        ),
      ),
    },
    async run(call, { company_id }) {
      const [{ company }, people] = await Promise.all([
        call.operate('getCompany', { company_id }),
        call.may('listCompanyContacts') ? call.operate('listCompanyContacts', { company_id, limit: ROWS }) : null,
      ])
      return compactRecord({
        company: pick(company, [...ROW, 'external_id', 'updated_at']),
        ...(people === null ? {} : contactsOf(people)),
      })
    },
  }),
]

function contactsOf(people: Values): Values {
  const contacts = (people.contacts as Values[]).map(({ contact_id, properties }) => ({
    contact_id,
    ...pick(properties, SUMMARY_PROPERTIES),
  }))
  return { total_contacts: totalOf(people), contacts }
}

/** A row with only some of its properties. */
function withProperties(row: Values, fields: string | undefined): Values {
  if (fields === undefined) return row
  return {
    ...row,
    properties: pick(
      row.properties,
      fields.split(',').map((name) => name.trim()),
    ),
  }
}
