import { queryOptions } from '@tanstack/react-query'
import { get } from './client.ts'
import type { CustomerEvent } from './events.ts'

const EVENTS = ['agent_action_proposed', 'agent_action_executed', 'agent_action_failed']
const LIMIT = 50

/** The events of agents' actions for a contact, newest first. */
export const contactActionsQuery = (contactId: string) =>
  queryOptions({
    queryKey: ['events', 'timeline', contactId, 'agent-actions'],
    queryFn: async ({ signal }) => {
      const answers = await Promise.all(
        EVENTS.map((event_type) =>
          get<{ events: CustomerEvent[] }>('/v1/events', { contact_id: contactId, event_type, limit: LIMIT }, signal),
        ),
      )
      return answers.flatMap(({ events }) => events).sort((a, b) => b.timestamp.localeCompare(a.timestamp))
    },
  })
