import { listResult, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { AGENT_TOOLS } from './agents.ts'
import { COMPANY_TOOLS } from './companies.ts'
import { CONTACT_TOOLS, rowsOf, totalOf } from './contacts.ts'
import { CONVERSATION_TOOLS } from './conversations.ts'
import { DESCRIBE_SCHEMA } from './describe-schema.ts'
import { EVENT_TOOLS } from './events.ts'
import { pageInput } from './inputs.ts'
import { INSIGHT_TOOLS } from './insights.ts'
import { pageOf, text } from './outputs.ts'
import { SEGMENT_TOOLS } from './segments.ts'

const WEBHOOK_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_webhooks',
    title: 'List webhooks',
    description: 'Which events are sent to which URLs, and whether the subscription is active or paused.',
    uses: ['listWebhooks'],
    input: pageInput,
    output: pageOf('webhooks', {
      subscription_id: text,
      event: text,
      url: text,
      url_filter: text,
      status: text,
      created_at: text,
    }),
    async run(call, { limit = 25, cursor }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listWebhooks', { ...place })
      const rows = rowsOf(result.webhooks, ['subscription_id', 'event', 'url', 'url_filter', 'status', 'created_at'])
      return listResult('webhooks', rows, place, totalOf(result))
    },
  }),
]

/** The tools of the MCP server, in the order in which clients list them. */
export const TOOLS: readonly Tool[] = [
  DESCRIBE_SCHEMA,
  ...CONTACT_TOOLS,
  ...COMPANY_TOOLS,
  ...EVENT_TOOLS,
  ...INSIGHT_TOOLS,
  ...SEGMENT_TOOLS,
  ...CONVERSATION_TOOLS,
  ...AGENT_TOOLS,
  ...WEBHOOK_TOOLS,
]
