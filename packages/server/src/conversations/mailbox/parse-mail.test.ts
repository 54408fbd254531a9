import { describe, expect, test } from 'vitest'
import { awkwardMail } from '../../../test/mails.ts'
import { type FolderRole, idsOf, parseMail } from './parse-mail.ts'

const RECEIVED = new Date('2026-01-02T00:00:00Z')
const parse = (name: string, role: FolderRole = 'inbox') =>
  parseMail({ source: awkwardMail(name), receivedAt: RECEIVED }, role, 'identity')

describe('malformed mails', () => {
  test.each([
    ['koi8-r', { messageId: 'koi8@example.com', subject: 'Привет', text: 'Здравствуйте, мир\n' }],
    ['iso-2022-jp', { subject: '件名', text: 'こんにちは世界\n' }],
    ['broken-base64', { subject: 'Broken', text: expect.stringContaining('Hello') }],
    ['nested-multipart', { text: expect.stringContaining('The innermost.') }],
    [
      'winmail',
      {
        text: expect.stringContaining('See attached.'),
        attachments: [{ filename: 'winmail.dat', contentType: 'application/ms-tnef', bytes: 68 }],
      },
    ],
    [
      'calendar',
      {
        text: expect.stringContaining('You are invited'),
        attachments: [expect.objectContaining({ contentType: 'text/calendar' })],
      },
    ],
    [
      'calendar-only',
      { subject: 'Accepted: Demo', attachments: [expect.objectContaining({ contentType: 'text/calendar' })] },
    ],
    ['emoji-subject', { subject: '🎉 Großes Fest 🚀' }],
    [
      'bare-newlines',
      { messageId: 'unix@example.com', subject: 'Unix', sentAt: RECEIVED, text: expect.stringContaining('body') },
    ],
    [
      'groups',
      {
        to: [
          { address: 'sales@ours.example', name: 'Sam' },
          { address: 'bob@example.com', name: null },
        ],
      },
    ],
    [
      'nothing',
      { from: { address: null, name: null }, text: '', messageId: expect.stringMatching(/@no-message-id\.invalid$/) },
    ],
    ['garbage', { sentAt: RECEIVED }],
    ['no-date', { sentAt: RECEIVED }],
    ['unknown-charset', { text: 'plain after all\n' }],
    [
      'forwarded',
      {
        messageId: 'forwarded@example.com',
        subject: 'Fwd: Mail',
        attachments: [expect.objectContaining({ contentType: 'message/rfc822' })],
      },
    ],
  ])('%s', async (name, expected) => {
    const { message, report } = await parse(name)
    expect(message).toMatchObject(expected)
    expect(message).toMatchObject({ channel: 'email', source: 'email', direction: 'inbound', identityId: 'identity' })
    expect(report).toBeNull()
  })

  test('a mail with 300 levels of nesting throws an error', async () => {
    await expect(parse('too-deep')).rejects.toThrow(/nesting/i)
  })

  test('a mail without an id has the same generated id in every copy, and a unique one', async () => {
    const [first, second] = [await parse('no-message-id'), await parse('no-message-id', 'sent')]
    expect(first.message.messageId).toBe(second.message.messageId)
    expect(first.message.messageId).not.toBe((await parse('nothing')).message.messageId)
  })

  test('two hundred references are parsed, with or without angle brackets', async () => {
    const { message } = await parse('200-references')
    expect([message.references.length, message.references[199], message.inReplyTo]).toEqual([
      200,
      'ref199@example.com',
      'ref199@example.com',
    ])
    expect(idsOf('a@x b@x,c@x')).toEqual(['a@x', 'b@x', 'c@x'])
    expect(idsOf('(comment) <a@\r\n x> junk <b@x>')).toEqual(['a@x', 'b@x'])
  })

  test('automatic replies are distinguished from personal ones', async () => {
    expect((await parse('out-of-office')).message.isAutomatic).toBe(true)
    expect((await parse('koi8-r')).message.isAutomatic).toBe(false)
    expect((await parse('bounce')).message.isAutomatic).toBe(true)
  })

  test('mails in the Sent folder are outbound', async () => {
    expect((await parse('koi8-r', 'sent')).message.direction).toBe('outbound')
  })
})

describe('reports', () => {
  test.each(['bounce', 'bounce-headers-only'])('%s', async (name) => {
    expect((await parse(name)).report).toEqual({
      reason: 'bounced',
      recipients: ['ada@example.com', 'ada@example.com'],
      messageId: 'offer@ours.example',
      details: '550 5.1.1 <ada@example.com>: no such user here',
    })
  })

  test('a complaint', async () => {
    expect((await parse('complaint')).report).toEqual({
      reason: 'complained',
      recipients: ['ada@example.com'],
      messageId: 'offer@ours.example',
      details: 'abuse',
    })
  })

  test.each(['bounce-temporary', 'out-of-office', 'koi8-r'])('%s is not a report', async (name) => {
    expect((await parse(name)).report).toBeNull()
  })
})
