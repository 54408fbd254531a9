import { filterFields } from '../contacts/columns.ts'
import { COMPANY_PROPERTIES } from '../contacts/property-catalogue.ts'
import { spelledDomain } from './domain.ts'

/** What filters of companies can name. */
export const COMPANY_FILTER_FIELDS = filterFields('companies', COMPANY_PROPERTIES, { domain: spelledDomain })
