import type { Dimension, Dimensions } from './dimension.ts'

function column(name: string, description: string): Dimension {
  return { sql: name, kind: 'text', description }
}

/** The dimensions of events, in ClickHouse SQL. */
export const EVENT_DIMENSIONS = {
  event_type: column('event', 'Event name.'),
  domain: column('domain', 'Host of the URL.'),
  url: column('url', 'Whole URL.'),
  url_path: column('url_path', 'Path of the URL.'),
  title: column('title', 'Page title.'),
  text: column('text', 'Text of the element.'),
  element_type: column('element_type', 'Type of the element, such as button.'),
  element_id: column('element_id', 'Id of the element.'),
  class: column(
    'class',
    'Full class attribute of the element. It varies a lot: to find an element, filter by class_contains.',
  ),
  contact_id: { sql: 'owner_id', kind: 'id', description: 'Identified contact; anonymous events are in no bucket.' },
  visitor_id: { sql: 'visitor_id', kind: 'id', description: 'Visitor, identified or anonymous.' },
  session_id: { sql: 'session_id', kind: 'id', description: 'Session.' },
  analytics_user_id: column('analytics_user_id', 'User id of another analytics tool.'),
  company_id: {
    sql: 'owner_id',
    kind: 'id',
    description: "Company that the event's contact belongs to now; other events make no bucket.",
  },
  day: {
    sql: 'toDate(timestamp)',
    kind: 'day',
    description: 'Day (UTC), `YYYY-MM-DD`: the most recent days, in chronological order.',
  },
  week: {
    sql: 'toMonday(toDate(timestamp))',
    kind: 'week',
    description: 'ISO week (UTC), `YYYY-Www`: the most recent weeks, in chronological order.',
  },
  month: {
    sql: 'toStartOfMonth(toDate(timestamp))',
    kind: 'month',
    description: 'Month (UTC), `YYYY-MM`: the most recent months, in chronological order.',
  },
  device_type: column('device_type', 'Device type, such as desktop.'),
  browser: column('browser', 'Browser name, such as Chrome.'),
  os: column('os', 'Name of the operating system, such as macOS.'),
  referring_domain: column('referring_domain', "Host of the referrer; none for the event's own site."),
  is_bot: { sql: 'is_bot', kind: 'boolean', description: 'Whether the sender identifies itself as a bot.' },
} as const satisfies Dimensions
