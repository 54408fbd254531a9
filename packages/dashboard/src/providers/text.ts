/** The texts for signing in at other services. */
export const text = {
  connect: (label: string) => `Connect ${label}`,
  notStarted: 'The sign-in could not start',
  client: {
    title: (label: string) => `OAuth client for ${label}`,
    explanation: (label: string) =>
      `This workspace signs in at ${label} as an application of your own. Register one there with this redirect URL, and enter its client ID and client secret.`,
    guide: 'How to register it',
    redirect: 'Redirect URL',
    copy: 'redirect URL',
    id: 'Client ID',
    secret: 'Client secret',
    secretHint: 'Stored encrypted, and never shown again.',
    show: 'Show the client secret',
    save: 'Save',
    saveAndSignIn: 'Save and sign in',
    cancel: 'Cancel',
  },
  clients: {
    title: 'OAuth clients',
    description: 'The applications with which this workspace signs in at other services.',
    provider: 'Service',
    clientId: 'Client ID',
    none: 'none',
    ofOperator: 'from the operator of this installation',
    changed: 'Changed',
    actions: 'Actions',
    set: (label: string) => `Set for ${label}`,
    change: (label: string) => `Change for ${label}`,
    setShort: 'Set',
    changeShort: 'Change',
    delete: 'Delete',
    deleteOf: (label: string) => `Delete the client for ${label}`,
    deleteTitle: (label: string) => `Delete the OAuth client for ${label}?`,
    deleteExplanation:
      'Everything that signed in with it stops working, usually within an hour. It works again once you store the same client.',
    deleteConfirm: 'Delete client',
  },
  authorized: {
    title: 'Completing the sign-in',
    failed: 'The sign-in was not completed',
    empty: 'Nothing to complete. Start the sign-in where you need it, such as on the page of an identity.',
    back: 'Go back',
    elsewhere:
      'If it was started on the command line or with an API key, complete it there. On the command line, add --tenant and its id:',
    copy: 'command',
  },
}
