import type { Hook, HookBody } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'

const KIND_NAMES = {
  custom: 'Custom',
  stripe: 'Stripe',
  calendly: 'Calendly',
  typeform: 'Typeform',
  'cal.com': 'Cal.com',
} satisfies Record<Hook['kind'], string>

const TARGETS = {
  'event.name': 'Event name',
  'event.id': 'Event ID',
  'event.timestamp': 'Time of the event',
  'event.url': 'URL',
  'contact.email': 'Email',
  'contact.user_id': 'Your user ID',
  'contact.external_id': 'The sender’s ID of the person',
  'company.domain': 'Domain',
  'company.name': 'Name',
} as const

/** The texts of incoming webhooks, by page. */
export const text = {
  title: 'Hooks',
  kinds: KIND_NAMES,
  bodyStates: { pending: 'waiting', recorded: 'recorded', skipped: 'skipped', failed: 'failed' } satisfies Record<
    HookBody['state'],
    string
  >,

  list: {
    description:
      'A hook is a URL that another system sends JSON to. Its mapping turns the JSON into events, contacts and companies.',
    create: 'New hook',
    empty: 'No hooks yet',
    emptyExplanation:
      'Receive payments from Stripe, bookings from Calendly or Cal.com, answers from Typeform, or JSON from any other system.',
    name: 'Name',
    kind: 'Sender',
    status: 'Status',
    source: 'Source',
    bodies: 'Deliveries',
    last: 'Last delivery',
    never: 'never',
  },
  states: {
    on: 'on',
    off: 'off',
    needsSecret: 'needs a secret',
    fails: (count: number) => `${formatNumber(count)} failed`,
  },

  create: {
    title: 'New hook',
    kind: 'Sender',
    name: 'Name',
    nameDescription: 'The source of the records gets this name too.',
    kindDescriptions: {
      custom: 'Any system that sends JSON or a form. Its first delivery fills in what becomes of it; you check that.',
      stripe: 'Payments, invoices and subscriptions.',
      calendly: 'Bookings and cancellations.',
      typeform: 'Answers to your forms.',
      'cal.com': 'Bookings, changes and cancellations.',
    } satisfies Record<Hook['kind'], string>,
    secret: 'Signing secret',
    secretDescriptions: {
      custom: 'Optional. If you set one, only signed deliveries are accepted.',
      stripe: 'Stripe shows it (whsec_…) after you have entered the URL there. You can add it later.',
      calendly: 'The signing_key of the webhook subscription. You can add it later.',
      typeform: 'The secret that you enter next to the URL in Typeform. You can add it later.',
      'cal.com': 'The secret that you enter next to the URL in Cal.com. You can add it later.',
    } satisfies Record<Hook['kind'], string>,
    header: 'Signature header',
    headerDescription: 'The header with the HMAC-SHA256 of the delivery’s content.',
    headerPlaceholder: 'X-Signature',
    failed: 'The hook was not created',
    submit: 'Create hook',
    cancel: 'Cancel',
  },

  url: {
    title: 'URL',
    hidden: (hint: string) => `…/v1/public/hooks/hk_••••${hint}`,
    show: 'Show URL',
    copy: 'URL of the hook',
    secret: 'Keep it secret: whoever has this URL can send data to the workspace.',
    next: {
      custom:
        'Enter this URL in the sending system, and let it send something. The first delivery shows up below by itself.',
      stripe:
        'In Stripe, open Developers → Webhooks, add an endpoint with this URL, and copy its signing secret to this hook.',
      calendly: 'Create a webhook subscription in Calendly’s API with this URL and the signing key of this hook.',
      typeform: 'In Typeform, open Connect → Webhooks of your form, and add this URL with the secret of this hook.',
      'cal.com': 'In Cal.com, open Settings → Developer → Webhooks, and add this URL with the secret of this hook.',
    } satisfies Record<Hook['kind'], string>,
  },

  one: {
    title: 'Hook',
    kind: 'Sender',
    status: 'Status',
    source: 'Source',
    signature: 'Signature',
    signedIn: (header: string) => `checked in ${header}`,
    unsigned: 'not checked',
    previousToken: 'Previous URL valid until',
    created: 'Created',
    mapping: 'Mapping',
    mapped: (parts: string) => parts,
    notMapped: 'none yet',
    parts: { event: 'event', contact: 'contact', company: 'company' },
    needsSecret: 'This hook rejects deliveries until it has the sender’s signing secret.',
    addSecret: 'Add the signing secret',
    waits: 'Waiting for the first delivery. It is kept, and you then decide what it becomes.',
    needsMapping: (count: number) =>
      count === 1
        ? 'A delivery has arrived. Check what it becomes: the fields are filled in for you.'
        : `${formatNumber(count)} deliveries have arrived. Check what they become: the fields are filled in for you.`,
    checkMapping: 'Check the fields',
  },

  actions: {
    editMapping: 'Edit mapping',
    viewMapping: 'View mapping',
    turnOn: 'Turn on',
    turnOff: 'Turn off',
    more: 'More',
    rename: 'Rename',
    secret: 'Signing secret',
    rotate: 'New URL',
    remove: 'Delete',
  },

  rename: { title: 'Rename the hook', submit: 'Save' },

  secret: {
    title: 'Signing secret',
    label: 'Signing secret',
    description: 'It is stored encrypted and never shown again. It replaces the current secret at once.',
    turnOn: 'Save and turn on',
    submit: 'Save',
    remove: 'Remove the secret',
  },

  rotate: {
    title: 'Create a new URL?',
    titleWhenRotated: 'New URL',
    explanation:
      'The old URL works for another 24 hours, which gives you time to enter the new one in the sending system.',
    revoke: 'Stop the old URL at once',
    revokeDescription: 'Use this after a leak. Whatever is sent to the old URL from now on is lost.',
    submit: 'Create a new URL',
  },

  remove: {
    title: (name: string) => `Delete ${name}?`,
    explanation:
      'Its URL stops working at once, and its deliveries are deleted. The records that it wrote stay. You cannot undo this.',
    confirm: 'Delete hook',
  },

  bodies: {
    title: 'Deliveries received',
    empty: 'No deliveries yet',
    emptyExplanation: 'The last 50 deliveries are listed here, with what became of them.',
    when: 'Received',
    state: 'Outcome',
    event: 'Event',
    contact: 'Contact',
    contactStates: { created: 'created', updated: 'updated', unchanged: 'unchanged' },
    error: 'Reason',
    size: 'Size',
    bytes: (count: number) => `${formatNumber(count)} bytes`,
  },

  body: {
    title: 'Delivery',
    received: 'Received',
    outcome: 'Outcome',
    reason: 'Reason',
    warnings: 'Warnings',
    event: 'Event',
    contact: 'Contact',
    company: 'Company',
    size: 'Size',
    content: 'Content',
    contentLabel: 'Content of the delivery',
    copy: 'content',
    run: 'Run again',
    ran: {
      pending: 'The delivery is waiting',
      recorded: 'The delivery was recorded',
      skipped: 'The delivery was skipped',
      failed: 'The delivery could not be recorded',
    },
    useAsSample: 'Use in the mapping',
  },

  mapping: {
    title: 'Mapping',
    description: 'What each delivery becomes. Click a value and say what it is, or choose a field first.',
    readOnly: 'Only admins and owners can change the mapping.',
    sample: 'Sample',
    choose: 'Delivery',
    pasted: 'Pasted sample',
    paste: 'Sample as JSON',
    notJson: 'This is not a JSON object or array.',
    noBodies: 'Waiting for the first delivery, which appears here by itself. You can also paste a sample.',
    tree: 'Values of the sample',
    more: (count: number) => `and ${formatNumber(count)} more`,
    open: (path: string) => `Show ${path}`,
    close: (path: string) => `Hide ${path}`,
    choosePlace: (shown: string, path: string) => `${shown}: choose what ${path} is`,
    use: (shown: string, path: string, target: string) => `${shown}: use ${path} for ${target}`,
    items: (count: number) => (count === 1 ? '1 item' : `${formatNumber(count)} items`),
    fields: (count: number) => (count === 1 ? '1 field' : `${formatNumber(count)} fields`),
    targets: 'Fields',
    parts: {
      event: 'Event',
      contact: 'Contact',
      company: 'Company',
    },
    partExplanations: {
      event: 'What happened. A delivery with the same event name and event ID is recorded once.',
      contact: 'The person. The sender’s ID can find a contact, but never creates one.',
      company: 'Optional. A contact without a company is linked to it.',
    },
    names: TARGETS,
    field: (key: string) => (key === '' ? 'a new field' : key),
    pathPlaceholder: 'path.in.the.delivery',
    fixedPlaceholder: 'fixed value',
    source: (name: string) => `Where ${name} comes from`,
    path: 'Path',
    fixed: 'Fixed',
    addField: { event: 'Add a data field', contact: 'Add a property', company: 'Add a property' },
    newField: {
      event: (key: string) => `New data field “${key}”`,
      contact: (key: string) => `New contact property “${key}”`,
      company: (key: string) => `New company property “${key}”`,
    },
    inSample: (value: string) => `→ ${value}`,
    notInSample: 'not in this delivery',
    guessed: 'Filled in from this delivery. Check the fields, then save.',
    guess: 'Fill in empty fields from this delivery',
    retry: (count: number) =>
      count === 1
        ? 'Also record the delivery that has already arrived'
        : `Also record the ${formatNumber(count)} deliveries that are not recorded yet`,
    key: (part: string, number: number) => `Name of ${part} ${number}`,
    keyOf: { event: 'data field', contact: 'contact property', company: 'company property' },
    removeField: (name: string) => `Remove ${name}`,
    conditions: 'Only when',
    conditionsExplanation:
      'A delivery is recorded only if all conditions are met. Otherwise it is skipped. Put values that contain commas in double quotes.',
    addCondition: 'Add a condition',
    conditionPath: (number: number) => `Path of condition ${number}`,
    conditionValues: (number: number) => `Values of condition ${number}`,
    conditionValuesPlaceholder: 'values, separated by commas',
    removeCondition: (number: number) => `Remove condition ${number}`,
    alternatives: 'You can separate several paths with |. The first path that has a value is used.',
    save: 'Save mapping',
    saved: (retried: number) =>
      retried === 0 ? 'The mapping is saved' : 'The mapping is saved, and earlier deliveries are being recorded',
    failed: 'The mapping was not saved',
    cancel: 'Cancel',
  },

  preview: {
    title: 'Preview',
    updating: 'Updating the preview',
    noSample: 'Choose or paste a sample to see what would be recorded.',
    states: { recorded: 'This would be recorded', skipped: 'This would be skipped', failed: 'This cannot be recorded' },
    event: 'Event',
    contact: 'Contact',
    company: 'Company',
    now: 'when it arrives',
    names: {
      name: 'name',
      timestamp: 'time',
      id: 'ID',
      url: 'URL',
      email: 'email',
      user_id: 'user ID',
      external_id: 'sender’s ID',
      domain: 'domain',
    } as Record<string, string>,
  },
}
