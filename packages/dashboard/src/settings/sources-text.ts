import { formatNumber } from '../ui/format.ts'

/** The texts of the page of sources. */
export const text = {
  title: 'Sources',
  description: 'The websites, servers and connected systems that send data to this workspace.',
  empty: 'No sources yet',
  explanation:
    'A source has a write key, with which your servers and pages send events. Connected systems, such as a CRM, appear here when they first write.',
  name: 'Name',
  type: 'Type',
  types: { browser: 'browser', server: 'server', connector: 'connector' },
  key: 'Write key',
  hint: (hint: string) => `…${hint}`,
  lastSeen: 'Last seen',
  never: 'never',
  events: 'Events in 24 hours',
  count: formatNumber,
  created: 'Created',
  actions: 'Actions',
  more: (name: string) => `Actions for ${name}`,
  create: {
    button: 'New source',
    title: 'New source',
    titleWhenCreated: 'Your new write key',
    name: 'Name',
    nameDescription: 'Name the site or the app that will use it.',
    type: 'Where it runs',
    types: {
      server: {
        label: 'Server',
        description: 'The key is secret: keep it out of pages and apps. What it says of contacts is verified.',
      },
      browser: {
        label: 'Browser',
        description:
          'The key is public. It works on pages of your verified domains, and what it says of contacts is unverified.',
      },
    },
    submit: 'Create source',
    cancel: 'Cancel',
  },
  shown: {
    saveNow: 'Save the write key now. You cannot see it again.',
    copy: 'the write key',
    saved: 'I have saved it',
  },
  rename: {
    menu: 'Rename',
    title: 'Rename the source',
    name: 'Name',
    submit: 'Save name',
    cancel: 'Cancel',
  },
  rotate: {
    menu: 'Replace the write key',
    title: (name: string) => `Replace the write key of ${name}?`,
    explanation: 'You get a new key. The old key works for another 24 hours, so you have time to deploy the new one.',
    revoke: 'Revoke the old key now',
    revokeDescription: 'After a leak. Events sent with the old key are rejected at once.',
    submit: 'Replace key',
    cancel: 'Cancel',
    titleWhenRotated: 'Your new write key',
  },
  remove: {
    menu: 'Delete',
    title: (name: string) => `Delete ${name}?`,
    explanation:
      'Its write key stops working at once, and events sent with it are rejected. Recorded events and contacts are kept. You cannot undo this.',
    ofConnector: 'It disappears from this list until it writes again. What it wrote is kept.',
    confirm: 'Delete source',
  },
}
