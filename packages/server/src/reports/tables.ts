import type { Tables } from '../platform/postgres/table-rules.ts'
import { shareTokenPlace } from './share-links.ts'

export const REPORT_TABLES = {
  reports: { key: ['report_id'], export: {} },
  dashboards: { key: ['dashboard_id'], export: {} },
  share_links: {
    key: ['link_id'],
    export: { without: ['token_hash'] },
    sealed: { token_sealed: ({ tenant_id = '', link_id = '' }) => shareTokenPlace(tenant_id, link_id) },
  },
} satisfies Tables
