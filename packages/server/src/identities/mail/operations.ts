import Type from 'typebox'
import { operationsWith } from '../../operations/declare.ts'
import { personal } from '../../platform/personal.ts'
import { renderContent, withFooter } from './compose.ts'
import { oneLine } from './outgoing.ts'

export interface PreviewServices {
  config: { publicUrl: string }
}

const MailPreview = Type.Object(
  {
    subject: Type.String(personal('free-text')),
    text: Type.String({ description: 'The plain-text part.', ...personal('free-text') }),
    html: Type.String({ description: 'The HTML part: a complete document.', ...personal('free-text') }),
  },
  { title: 'MailPreview' },
)

const mailOperation = operationsWith<PreviewServices>()

export const MAIL_OPERATIONS = [
  mailOperation({
    name: 'previewMail',
    tag: 'Identities',
    http: 'POST /v1/mail-previews',
    command: 'mail preview',
    scope: 'identities:read',
    summary: 'Render an outreach email exactly as it would be sent; nothing is sent or stored',
    description: 'Each sent email has an unsubscribe link of its own; the preview has a placeholder in its place.',
    input: {
      subject: Type.String({ maxLength: 500, examples: ['Your trial'] }),
      message: Type.String({ maxLength: 20_000, description: 'Markdown.', examples: ['Hi Ada,\n\nHow is it going?'] }),
    },
    output: { preview: MailPreview },
    reads: true,
    async run({ config }, { subject, message }) {
      const content = await renderContent(message)
      return {
        preview: { subject: oneLine(subject), ...withFooter(content, `${config.publicUrl}/unsubscribe/preview`) },
      }
    },
  }),
]
