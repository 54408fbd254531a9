import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { openTenant, type Tenant } from '../src/platform/tenant.ts'
import type { TestService } from './service.ts'

/** How PostgreSQL reads the rows of a page. */
export interface PagePlan {
  /** From the result down to the table. */
  steps: string[]
  index: string | undefined
}

interface PlanNode {
  'Node Type': string
  'Index Name'?: string
  'Parent Relationship'?: string
  Plans?: PlanNode[]
}

/** @returns a function that reads a page of a tenant's list and explains the statement that the service sent for it. */
export function explainPages({ stores, postgres: { pool } }: TestService, tenantId: string) {
  let sent: CompiledQuery[] = []
  const database = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      sent.push(query)
    },
  })
  const tenant = openTenant({ ...stores, database }, tenantId)
  return async (read: (tenant: Tenant) => Promise<unknown[]>): Promise<PagePlan> => {
    sent = []
    const { length } = await read(tenant)
    // A page may follow a count, or a page of another kind that is empty.
    const page = sent.findLast(({ sql }) => / offset \$\d+$/.test(sql))
    if (!page || length === 0) throw new Error('The page is empty.')
    const { rows } = await pool.query(`EXPLAIN (FORMAT JSON) ${page.sql}`, [...page.parameters])
    return stepsOf(rows[0]['QUERY PLAN'][0].Plan)
  }
}

function stepsOf(plan: PlanNode): PagePlan {
  const steps: string[] = []
  let index: string | undefined
  // The other branches read what belongs to each row.
  const next = ({ Plans = [] }: PlanNode) => Plans.find((each) => each['Parent Relationship'] === 'Outer')
  for (let node: PlanNode | undefined = plan; node; node = next(node)) {
    steps.push(node['Node Type'])
    index = node['Index Name']
  }
  return { steps, index }
}
