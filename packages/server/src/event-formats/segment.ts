import { textOf } from '../sites/segment/fields.ts'
import { CALL_TYPES, translate } from '../sites/segment/translate.ts'
import { type Format, idOfText, requireTime } from './format.ts'

const EVENT_TYPES = ['track', 'page', 'screen']

/** The calls of Segment's and RudderStack's SDKs, as their archives in files contain them. */
export const segment: Format = {
  matches: (line) =>
    CALL_TYPES.some((type) => type === line.type) &&
    ['anonymousId', 'userId', 'messageId'].some((key) => textOf(line[key]) !== ''),
  toCall: (line, warnings) => {
    // The archive's timestamp is already corrected for the clock of the sender.
    const timestamp = textOf(line.timestamp) || textOf(line.originalTimestamp)
    if (EVENT_TYPES.includes(textOf(line.type))) requireTime('timestamp', timestamp)
    const sending = { sourceId: 'import', receivedAt: new Date(), sentAt: undefined, userAgent: '', isBrowser: false }
    const { originalTimestamp: _sender, sentAt: _sent, ...sent } = line
    const { call, warnings: ignored } = translate({ ...sent, timestamp }, null, sending)
    warnings.push(...ignored)
    const messageId = textOf(line.messageId)
    if (call.event && messageId !== '') call.event.sentId = idOfText(`messageId ${messageId}`)
    return call
  },
}
