/** The words of what is shared by link. */
export const text = {
  dialog: {
    menu: 'Share',
    title: (name: string) => `Share ${name}`,
    explanation:
      'Anybody who has the link can open it, without an account. It shows these figures, also as they change.',
    seen: 'People with the link see names, ranges and numbers. They see no people, no conditions, and no values that may be about a person.',
    create: 'Create link',
    link: 'Link',
    copy: 'Link',
    open: 'Open',
    done: 'Done',
    stop: 'Stop sharing',
    stopTitle: 'Stop sharing?',
    stopExplanation: 'The link stops working at once, for everybody who has it. A new link will be a different one.',
    opening: 'Opening the link',
  },
  isShared: 'Shared by link',
  page: {
    gone: {
      title: 'This link shows nothing',
      hint: 'It may be incomplete, or whoever shared it has stopped. Ask them for a new one.',
    },
    title: 'Shared figures',
    loading: 'Loading the figures',
    asOf: (moment: string) => `As of ${moment}`,
    partial: 'Some events or people are left out by conditions that are not shown.',
    empty: 'No event matches in this range.',
    problems: {
      not_shareable: 'This report has been changed and can no longer be shown here.',
      no_answer: 'This report has no answer at the moment.',
    },
    footer: 'Shared from the Customer Data Service',
  },
}
