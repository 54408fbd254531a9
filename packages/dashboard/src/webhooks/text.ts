import { formatNumber } from '../ui/format.ts'

const OPERATORS = {
  contains: 'contains',
  not_contains: 'does not contain',
  equals: 'is',
  starts_with: 'starts with',
  ends_with: 'ends with',
} as const

/** The texts of the webhooks, by page. */
export const text = {
  title: 'Webhooks',
  url: 'URL',
  states: { paused: 'paused', failing: 'failing', someFail: 'some fail', active: 'active' },
  deliveryStates: { pending: 'waiting', succeeded: 'delivered', failed: 'failed' },
  formats: { json: 'JSON', slack: 'Chat message' },
  noResponse: 'no response',
  milliseconds: (count: number) => `${formatNumber(count)} ms`,

  list: {
    description:
      'A webhook sends one type of event as it happens: signed JSON to your URL, or a message to a chat channel.',
    create: 'New webhook',
    empty: 'No webhooks yet',
    emptyExplanation:
      'Notify your other systems when a form is submitted, or when a contact changes or enters a segment.',
    event: 'Event',
    status: 'Status',
    delivered: 'Delivered',
    failed: 'Failed',
    lastDelivered: 'Last delivered',
  },

  one: {
    title: 'Webhook',
    status: 'Status',
    delivered: 'Delivered',
    waiting: 'Waiting',
    failed: 'Failed',
    latest: 'Latest deliveries',
    latestFailed: (failed: number, all: number) =>
      failed === 0 ? `none of ${formatNumber(all)} failed` : `${formatNumber(failed)} of ${formatNumber(all)} failed`,
    urlFilter: 'URL filter',
    allUrls: 'none',
    condition: (operator: keyof typeof OPERATORS, value: string) => `${OPERATORS[operator]} ${value}`,
    and: ' and ',
    or: ' or ',
    headers: 'Headers',
    noHeaders: 'none',
    format: 'Format',
    template: 'Text',
    defaultText: 'default text for the event',
    created: 'Created',
    previousSecret: 'Previous secret valid until',
  },

  deliveries: {
    title: 'Deliveries',
    statusFilter: 'Delivery status',
    all: 'All',
    filters: { pending: 'Waiting', succeeded: 'Delivered', failed: 'Failed' },
    empty: 'No deliveries',
    emptyExplanation: 'Every event of this type creates one as soon as it is recorded. Send a test to check the setup.',
    emptyWithStatus: 'No delivery has this status.',
    when: 'When',
    test: 'test',
    status: 'Status',
    response: 'Response',
    duration: 'Duration',
    attempts: 'Attempts',
    nextAttempt: 'Next attempt',
  },

  delivery: {
    title: 'Delivery',
    testTitle: 'Test delivery',
    status: 'Status',
    eventId: 'Event ID',
    created: 'Created',
    attempts: 'Attempts',
    nextAttempt: 'Next attempt',
    payload: 'Payload',
    copyPayload: 'request body',
    payloadLabel: 'Request body',
    noPayload: 'The body is created at the first attempt.',
    noAttempts: 'None yet. The first is on its way.',
    attempt: (number: number, at: string) => `${number}. ${at}`,
    responseFrom: (milliseconds: string, address: string) => `${milliseconds}, ${address}`,
    responseBody: (number: number) => `Body of response ${number}`,
    sendNow: 'Send now',
    resend: 'Resend',
  },

  create: {
    title: 'New webhook',
    created: 'Webhook created',
    saved: 'I have saved it',
    event: 'Event',
    eventDescription: 'An event from the list, or any custom event that you record.',
    urlDescription: 'It must start with https:// and be reachable from the internet.',
    urlPlaceholder: 'https://example.com/hooks/customers',
    format: 'Format',
    slackUrlDescription:
      'The URL of an incoming webhook of Slack, Mattermost or Rocket.Chat, or of a Discord webhook with /slack at the end. It is never shown again.',
    slackUrlPlaceholder: 'https://hooks.slack.com/services/…',
    failed: 'The webhook was not created',
    submit: 'Create webhook',
    cancel: 'Cancel',
    payload: 'Payload',
    chooseEvent: 'Choose an event to see what your URL receives.',
    sample: 'Sample payload',
  },

  message: {
    label: 'Message',
    template: 'Text',
    templateDescription:
      'Placeholders such as {{contact.email}} and {{event.data.segment_name}} are replaced with values.',
    useDefault: 'Use the default text',
    preview: 'Preview',
    chooseEvent: 'Choose an event to see its message.',
    previewNote: 'Uses a made-up contact. Values never become links or mentions.',
  },

  edit: {
    title: 'Edit webhook',
    urlKept: (shown: string) => `Leave blank to keep the current URL, ${shown}`,
    addHeaders: 'Add headers',
    replaceHeaders: (names: string) => `Replace the headers (${names})`,
    submit: 'Save changes',
  },

  headers: {
    label: 'Custom headers',
    title: 'Headers sent with each request',
    name: (number: number) => `Header ${number}`,
    namePlaceholder: 'Authorization',
    value: (number: number) => `Value of header ${number}`,
    remove: (number: number) => `Remove header ${number}`,
    add: 'Add a header',
  },

  segment: { label: 'Segment', all: 'Every segment', deleted: 'a deleted segment' },

  where: {
    label: 'Conditions on the event',
    unfinished: 'Complete or remove the incomplete conditions to save.',
  },
  urlFilter: {
    label: 'URL filter',
    title: (conditions: number) => (conditions === 0 ? 'URL filter' : 'Only events whose URL'),
    match: 'All or any',
    all: 'matches all of these',
    any: 'matches any of these',
    operator: (number: number) => `Comparison ${number}`,
    operators: OPERATORS,
    pattern: (number: number) => `Pattern ${number}`,
    patternPlaceholder: '/pricing',
    remove: (number: number) => `Remove pattern ${number}`,
    add: 'Add a pattern',
  },

  actions: {
    test: 'Send a test',
    pause: 'Pause',
    resume: 'Resume',
    more: 'More',
    edit: 'Edit webhook',
    rotate: 'New signing secret',
    remove: 'Delete',
    removeTitle: 'Delete the webhook?',
    removeExplanation: 'It stops sending events, and its delivery log is deleted. You cannot undo this.',
    removeConfirm: 'Delete webhook',
  },

  secret: {
    title: 'Save the signing secret now. You cannot see it again.',
    copy: 'signing secret',
    check: {
      before: 'Compare the header X-Service-Signature with ',
      prefix: 'sha256=',
      after:
        ' followed by the HMAC-SHA256 of the raw body, keyed with this secret as it is shown. Libraries for Standard Webhooks check the other signature headers with the same secret.',
    },
  },

  rotate: {
    overlap: 'Both secrets are valid for',
    hours: ' hours',
    switchAt: 'X-Service-Signature uses the new secret from',
    switchAtDescription:
      'Leave it empty to switch now. The Standard Webhooks header has both signatures while both secrets are valid.',
    submit: 'Create a new secret',
    done: (until: string, switchAt: string) =>
      `The previous secret is valid until ${until}. X-Service-Signature uses the new one from ${switchAt}.`,
    saved: 'I have saved it',
  },

  resendRange: {
    button: 'Resend deliveries',
    title: 'Resend deliveries',
    only: 'Which deliveries',
    choices: {
      failed: { label: 'Failed', description: 'Each gets 6 new attempts.' },
      waiting: { label: 'Waiting for a retry', description: 'Each makes its next attempt now.' },
      all: {
        label: 'All',
        description: 'Delivered ones, too. Your URL receives their events again, with the same event_id.',
      },
    },
    from: 'From',
    to: 'To',
    submit: 'Resend',
    done: (count: number) =>
      count === 0
        ? 'There is nothing to resend in this period.'
        : count === 1
          ? '1 delivery is being resent.'
          : `${formatNumber(count)} deliveries are being resent.`,
  },
}
