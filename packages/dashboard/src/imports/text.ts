import type { Import } from '../api/imports.ts'
import { formatNumber } from '../ui/format.ts'

const counted = (count: number, one: string, many: string) => `${formatNumber(count)} ${count === 1 ? one : many}`

type Undone = NonNullable<Import['undo']>

/** All texts of the imports. */
export const text = {
  importLink: 'Import',
  contacts: 'Contacts',
  imports: 'Imports',
  list: {
    title: 'Imports',
    description: 'CSV files of contacts that were uploaded here or through the API.',
    create: 'New import',
    rowCount: (count: string) => (count === '1' ? '1 row' : `${count} rows`),
    empty: {
      title: 'No imports yet',
      explanation: 'Upload a CSV file to add contacts, or to update the ones you have.',
    },
    columns: {
      file: 'File',
      state: 'State',
      rows: 'Rows',
      created: 'Created',
      updated: 'Updated',
      failed: 'Failed',
      uploaded: 'Uploaded',
    },
  },
  states: {
    uploaded: 'uploaded',
    mapped: 'mapped',
    previewing: 'computing the preview',
    previewed: 'ready to import',
    running: 'importing',
    completed: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    undoing: 'undoing',
    undone: 'undone',
  },
  steps: {
    label: 'Steps of the import',
    file: 'File',
    mapping: 'Mapping',
    preview: 'Preview',
    import: 'Import',
  },
  file: {
    title: 'Import contacts',
    description: 'Upload a CSV file. Nothing changes until you have seen what the import will do.',
    drop: 'Drop a CSV file here',
    dropNow: 'Drop the file to upload it',
    or: 'or',
    choose: 'Choose a file',
    limits:
      'CSV, at most 500 MB. Exports of Outlook, Google Contacts, HubSpot, Salesforce, Pipedrive, Mailchimp and others are recognized. The file is deleted after 7 days.',
    uploading: (name: string) => `Uploading ${name}`,
    progress: 'Progress of the upload',
    percent: (percent: number) => `${percent}%`,
    checking: 'Checking the file',
    cancel: 'Cancel',
    problem: 'The file could not be used',
    tooMany: 'Choose one file at a time.',
  },
  mapping: {
    heading: 'Where the columns go',
    recognized: (source: string) =>
      `This looks like an export from ${source}. Check the suggestions, then see what the import will do.`,
    notRecognized: 'Check the suggestions, then see what the import will do.',
    sources: {
      hubspot: 'HubSpot',
      mailchimp: 'Mailchimp',
      attio: 'Attio',
      outlook: 'Outlook',
      google: 'Google Contacts',
      pipedrive: 'Pipedrive',
      salesforce: 'Salesforce',
      klaviyo: 'Klaviyo',
      shopify: 'Shopify',
    },
    notes: {
      same_target: (other: string, target: string) =>
        `${target} comes from ${other}, so this column becomes a property of its own.`,
      found_by_values: 'Its values are email addresses.',
      no_name: 'This column has no name.',
      consent: 'Contacts who opt out in this column get no mail.',
    },
    table: 'Columns of the file',
    columns: { column: 'Column', samples: 'Samples', target: 'Goes to', type: 'Stored as' },
    noName: (number: number) => `Column ${number}`,
    noSamples: 'No values',
    target: (column: string) => `Where ${column} goes`,
    type: (column: string) => `How ${column} is stored`,
    newName: (column: string) => `New property for ${column}`,
    groups: { identify: 'Identifies the contact', company: 'Company', properties: 'Properties', other: 'Other' },
    targets: {
      email: 'Email',
      external_id: 'External ID',
      company: 'Company name',
      company_domain: 'Company domain',
      new: 'New property…',
      ignore: 'Do not import',
    },
    types: { text: 'Text', number: 'Number', boolean: 'Yes or no' },
    nothingFound: 'No such property',
    problems: {
      key: 'Choose the column with the email or the external ID, so that contacts can be found.',
      taken: (other: string) => `${other} goes there too.`,
      noName: 'Enter a name.',
      reserved: 'Choose another name.',
    },
    continue: 'Preview',
    saved: 'Changes are saved as you make them.',
    notSaved: 'Changes are saved once every column is correct.',
  },
  format: {
    heading: 'How the file is read',
    encoding: 'Encoding',
    encodingHint: 'Choose the one in which the words look right.',
    words: (encoding: string, words: string) => (words === '' ? encoding : `${encoding} · ${words}`),
    encodings: {
      'utf-8': 'UTF-8',
      'utf-16le': 'UTF-16',
      'utf-16be': 'UTF-16, big-endian',
      'windows-1252': 'Western European (Windows)',
      macintosh: 'Western European (Mac)',
      'iso-8859-15': 'Western European (ISO 8859-15)',
      ibm850: 'Western European (DOS)',
      ibm437: 'Western European (DOS, US)',
      'windows-1250': 'Central European (Windows)',
      'iso-8859-2': 'Central European (ISO 8859-2)',
      ibm852: 'Central European (DOS)',
      'x-mac-ce': 'Central European (Mac)',
      'windows-1251': 'Cyrillic (Windows)',
      'koi8-r': 'Cyrillic (KOI8-R)',
      ibm866: 'Cyrillic (DOS)',
      'x-mac-cyrillic': 'Cyrillic (Mac)',
      'windows-1253': 'Greek (Windows)',
      'windows-1254': 'Turkish (Windows)',
      'windows-1255': 'Hebrew (Windows)',
      'windows-1256': 'Arabic (Windows)',
      'windows-1257': 'Baltic (Windows)',
      'windows-1258': 'Vietnamese (Windows)',
      'windows-874': 'Thai (Windows)',
      shift_jis: 'Japanese (Shift_JIS)',
      'euc-jp': 'Japanese (EUC)',
      'iso-2022-jp': 'Japanese (JIS)',
      gb18030: 'Simplified Chinese (GB 18030)',
      big5: 'Traditional Chinese (Big5)',
      'euc-kr': 'Korean (EUC)',
    },
    delimiter: 'Separator',
    delimiterHint: 'The character that separates values.',
    delimiters: { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab', '|': 'Vertical bar' } as Record<string, string>,
    header: 'Header row',
    headerHint: 'Lines above it are not imported.',
    line: (line: number, cells: readonly string[]) =>
      `Line ${formatNumber(line)}: ${cells.filter((cell) => cell !== '').join(', ')}`,
    noHeader: 'No header row',
    reading: 'A change here reads the file again and suggests a new mapping.',
  },
  /** Before the import starts, and once it is complete. */
  consent: {
    planned: {
      silenced: (count: number, properties: readonly string[]) =>
        `${counted(count, 'contact', 'contacts')} will get no mail, because of ${properties.join(', ')}.`,
      still: (count: number) =>
        `${counted(count, 'contact in this file already gets', 'contacts in this file already get')} no mail.`,
      released: (count: number) =>
        `${counted(count, 'contact that opted out', 'contacts that opted out')} will get mail again, because a column of the file says so. To keep them opted out, do not import that column.`,
    },
    done: {
      silenced: (count: number, properties: readonly string[]) =>
        `According to the preview, ${counted(count, 'contact gets', 'contacts get')} no mail, because of ${properties.join(', ')}.`,
      still: (count: number) =>
        `${counted(count, 'contact in this file', 'contacts in this file')} already got no mail before the import.`,
      released: (count: number) =>
        `According to the preview, ${counted(count, 'contact that opted out gets', 'contacts that opted out get')} mail again, because a column of the file says so. To opt them out again, undo the import.`,
    },
  },
  warnings: {
    title: 'Warnings',
    rows: (count: number, first: readonly number[]) =>
      `${counted(count, 'row', 'rows')} (${first.map((row) => formatNumber(row)).join(', ')}${first.length < count ? ', …' : ''})`,
  },
  preview: {
    heading: 'What the import will do',
    explanation: 'Nothing has been changed yet.',
    computing: 'Reading the file and comparing it with your contacts. You can leave this page and come back.',
    progress: 'Progress of the preview',
    compute: 'Compute the preview',
    none: 'There is no preview of this mapping yet.',
    counts: {
      created: 'New contacts',
      updated: 'Updated',
      unchanged: 'Unchanged',
      failed: 'Rows with an error',
    },
    rows: {
      title: 'The first rows',
      label: 'First rows of the file',
      row: 'Row',
      contact: 'Contact',
      changes: 'Changes',
      none: 'No rows',
      noRows: 'The file has a header and no rows.',
    },
    statuses: { created: 'new', updated: 'updated', unchanged: 'unchanged', failed: 'error' },
    noChanges: 'No property changes',
    becomes: 'becomes',
    start: (count: number | null) => (count === null ? 'Start the import' : `Import ${counted(count, 'row', 'rows')}`),
    back: 'Change the mapping',
    discard: 'Discard',
    discardTitle: 'Discard this import?',
    discardExplanation: 'The uploaded file is deleted. No contact has been changed.',
    discardConfirm: 'Discard the import',
  },
  result: {
    inBackground: 'This runs in the background. You can leave this page and come back.',
    reading: 'Reading the file',
    done: (done: number, total: number) => `${formatNumber(done)} of ${counted(total, 'row', 'rows')}`,
    progress: 'Progress of the import',
    undoProgress: 'Progress of undoing the import',
    undoing: 'Undoing the import',
    cancel: 'Cancel the import',
    cancelTitle: 'Cancel this import?',
    cancelExplanation: 'No further rows are imported. Rows that were imported stay until you undo the import.',
    counts: { created: 'Created', updated: 'Updated', unchanged: 'Unchanged', failed: 'Failed' },
    heading: {
      completed: 'The import is complete',
      failed: 'The import failed',
      cancelled: 'The import was cancelled',
      undone: 'The import was undone',
    },
    viewContacts: 'View contacts',
    another: 'Import another file',
    again: 'Continue the import',
    download: 'Download failed rows',
    downloadHint: (count: number) =>
      count === 1
        ? 'One row failed. Correct it in the download, then import that file.'
        : `${formatNumber(count)} rows failed. Correct them in the download, then import that file.`,
    fileDeleted: 'The file has been deleted, so failed rows can no longer be downloaded.',
    errors: { title: 'Errors', label: 'First errors', row: 'Row', message: 'Error', none: 'No errors' },
    undo: {
      button: 'Undo the import',
      title: 'Undo this import?',
      explanation:
        'Contacts and companies that the import created are deleted, and values that it replaced are restored. Whatever has changed or is used since stays as it is.',
      result: ({ deleted, restored, kept, companies_deleted: companies }: Undone) =>
        [
          `${counted(deleted, 'contact was', 'contacts were')} deleted${restored === 0 ? '' : ` and ${formatNumber(restored)} restored`}.`,
          companies === 0 ? '' : `${counted(companies, 'company was', 'companies were')} deleted.`,
          kept === 0 ? '' : `${counted(kept, 'contact has', 'contacts have')} changed since and kept the new values.`,
        ]
          .filter((sentence) => sentence !== '')
          .join(' '),
      kept: 'Kept contacts',
      keptContact: 'Contact',
      keptProperties: 'What has changed',
      wholeContact: 'The contact is in use',
      none: 'No contacts',
    },
  },
}
