import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { boundedKey, subjectKey } from './clean.ts'
import type { IncomingMessage } from './message.ts'
import { recordMessages } from './record.ts'
import { cleanHtml, textOfHtml } from './sanitize.ts'

describe('HTML', () => {
  test.each([
    ['<p onclick="x()" style="color:red" class="c" id="i">Hi</p>', '<p>Hi</p>'],
    ['<script>alert(1)</script><style>p{}</style>after', 'after'],
    [
      '<img src="https://spy.example/p.gif" alt="a" width="1" onerror="x()">',
      '<img alt="a" width="1" data-src="https://spy.example/p.gif" />',
    ],
    ['<img src="data:image/svg+xml,<svg onload=alert(1)>">', '<img />'],
    ['<img src="cid:1" data-src="javascript:alert(1)" srcset="https://spy.example/2x.gif 2x">', '<img />'],
    [
      '<a href="https://ok.example/?a=1&b=2">x</a>',
      '<a href="https://ok.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">x</a>',
    ],
    [
      '<a href="javascript:alert(1)" onfocus="x" rel="opener">x</a>',
      '<a rel="noopener noreferrer nofollow" target="_blank">x</a>',
    ],
    ['<a href="java\nscript:alert(1)">x</a>', '<a rel="noopener noreferrer nofollow" target="_blank">x</a>'],
    ['<a href=" &#106;avascript:alert(1)">x</a>', '<a rel="noopener noreferrer nofollow" target="_blank">x</a>'],
    ['<a href="data:text/html,x">x</a>', '<a rel="noopener noreferrer nofollow" target="_blank">x</a>'],
    ['<a href="//evil.example">x</a>', '<a rel="noopener noreferrer nofollow" target="_blank">x</a>'],
    ['<form action="https://evil.example"><input name="p"><button>Go</button></form>', 'Go'],
    ['<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>after', 'after'],
    ['<iframe src="https://evil.example"></iframe><object data="x"></object><embed src="x">', ''],
    [
      '<link rel="stylesheet" href="https://spy.example/s.css"><meta http-equiv="refresh" content="0;url=x"><base href="x">',
      '',
    ],
    [
      '<body background="https://spy.example/b.gif"><table background="https://spy.example/t.gif"><tr><td>x</td></tr></table>',
      '<table><tr><td>x</td></tr></table>',
    ],
    ['<video poster="https://spy.example/v.gif"><source src="x"></video><audio src="x"></audio>', ''],
    ['<math><mtext><script>alert(1)</script></mtext></math><p>y', '<p>y</p>'],
    ['<!--[if mso]><script>x</script><![endif]--><p>z</p>', '<p>z</p>'],
    ['<p>un<b>closed', '<p>un<b>closed</b></p>'],
  ])('%s', async (html, clean) => {
    expect((await cleanHtml(html)).trim()).toBe(clean)
  })

  test('that is too large is cut safely and marked as truncated', async () => {
    const clean = await cleanHtml(`<p>${'&amp;'.repeat(300_000)}</p>`)
    expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(512 * 1024)
    expect(clean.endsWith('<p>[truncated]</p>')).toBe(true)
    const growing = await cleanHtml('<a href="https://x.example">x</a>'.repeat(20_000))
    expect(Buffer.byteLength(growing)).toBeLessThanOrEqual(512 * 1024)
    expect(growing.endsWith('</a><p>[truncated]</p>')).toBe(true)
    const deep = await cleanHtml(`${'<div>'.repeat(100_000)}deep`)
    expect(deep.split('<div>').length).toBeLessThanOrEqual(101)
    const many = await cleanHtml('<b>x</b>'.repeat(50_000))
    expect(many.endsWith('</b><p>[truncated]</p>')).toBe(true)
    expect(many.split('<b>')).toHaveLength(12_501)
  })

  test('is converted to plain text', async () => {
    expect(await textOfHtml('<p>One &amp; <b>two</b></p>\n<ul><li>a<li>b</ul>x &lt;y&gt;<br>z')).toBe(
      'One & two\n\na\nb\nx <y>\nz',
    )
  })
})

test('subjects of one conversation have the same key', () => {
  for (const subject of [
    'An Offer',
    're: an offer',
    'RE[2]: AW: Fwd:  An   offer',
    '[list] Re: an offer ',
    '回复：An offer',
  ]) {
    expect(subjectKey(subject)).toBe('an offer')
  }
  expect(['Re:', '', null, ' Fwd: Re: '].map((subject) => subjectKey(subject))).toEqual(['', '', '', ''])
  expect(subjectKey('Re: '.repeat(10_000)).length).toBeLessThanOrEqual(200)
})

test('long ids are shortened and stay unique', () => {
  const long = 'ü'.repeat(5_000)
  expect(Buffer.byteLength(boundedKey(long))).toBeLessThanOrEqual(512)
  expect(boundedKey(`${long}1`)).not.toBe(boundedKey(`${long}2`))
  expect(boundedKey('a\u0000b\ud800')).toBe('ab\ufffd')
})

describe('stored content', () => {
  let service: TestService
  let tenant: TestTenant
  let contactId: string

  beforeAll(async () => {
    service = await sharedService()
    tenant = await createTestTenant(service)
    contactId = await tenant.contact('ada@example.com')
  })

  const MAIL: IncomingMessage = {
    channel: 'email',
    source: 'email',
    messageId: 'one@example.com',
    threadKey: null,
    inReplyTo: null,
    references: [],
    subject: null,
    from: { address: 'ada@example.com', name: null },
    to: [],
    cc: [],
    sentAt: new Date('2026-01-01T00:00:00Z'),
    direction: 'inbound',
    text: '',
    html: null,
    attachments: [],
    identityId: null,
  }

  async function stored(more: Partial<IncomingMessage>) {
    const messageId = `${Math.random()}@example.com`
    const [result] = await recordMessages(tenant.handle, service.writing, [{ ...MAIL, messageId, ...more }])
    expect(result?.status).toBe('recorded')
    const path = `/v1/contacts/${contactId}/conversations?include_messages=true&limit=100&messages_per_thread=50`
    const { body } = await tenant.call('GET', path)
    const thread = body.conversations.find((each: { thread_id: string }) => each.thread_id === result?.threadId)
    return { thread, message: thread.messages[0] }
  }

  test('has no characters that the database rejects, and one-line header values', async () => {
    const { thread, message } = await stored({
      subject: 'Hello\r\nBcc: all@example.com\u0000\ud83d',
      text: 'a\u0000b\udc00 😀',
      from: { address: 'ada@example.com', name: 'Ada\r\nX-Evil: 1\u0000' },
      to: [{ address: 'not an address\r\nRCPT TO:<x>', name: '\ud800' }],
      attachments: [{ filename: 'a\u0000\r\nb.exe', contentType: 'application/x-msdownload', bytes: 7 }],
    })
    expect(thread.subject).toBe('Hello Bcc: all@example.com\ufffd')
    expect(message).toMatchObject({
      text: 'ab\ufffd 😀',
      from: { name: 'Ada X-Evil: 1' },
      to: [{ address: 'not an address RCPT TO:<x>', name: '\ufffd' }],
      attachments: [{ filename: 'a b.exe', content_type: 'application/x-msdownload', bytes: 7 }],
    })
  })

  test('has texts of at most 256 KiB, cut between characters and marked', async () => {
    const { message } = await stored({ text: '€'.repeat(200_000) })
    expect(Buffer.byteLength(message.text)).toBeLessThanOrEqual(256 * 1024)
    expect(message.text).toMatch(/^€+\n\[truncated\]$/)
  })

  test('has sanitized HTML, and a text even for mails with HTML only', async () => {
    const { message } = await stored({ text: ' ', html: '<p>Hi<script>alert(1)</script></p><p>there</p>' })
    expect(message).toMatchObject({ text: 'Hi\nthere', html: '<p>Hi</p><p>there</p>' })
    const rows = await tenant.handle.db.selectFrom('conversation_messages').select('html').execute()
    expect(JSON.stringify(rows)).not.toContain('script')
  })

  test('has limited numbers of recipients and references, and ids of limited length', async () => {
    const to = Array.from({ length: 5_000 }, (_, n) => ({ address: `r${n}@example.com`, name: 'x'.repeat(1_000) }))
    const references = Array.from({ length: 5_000 }, (_, n) => `${'r'.repeat(2_000)}${n}@example.com`)
    const { thread, message } = await stored({ messageId: `${'m'.repeat(20_000)}${Math.random()}`, to, references })
    expect(message.to).toHaveLength(499)
    expect(message.to[0].name).toHaveLength(200)
    expect(thread.participants).toHaveLength(100)
    expect(Buffer.byteLength(message.message_id)).toBeLessThanOrEqual(512)
    // The last reference still identifies the thread.
    const [reply] = await recordMessages(tenant.handle, service.writing, [
      { ...MAIL, messageId: 'reply@example.com', inReplyTo: references.at(-1) ?? null },
    ])
    expect(reply?.threadId).toBe(thread.thread_id)
  })

  test('is cut and marked in responses that would be too large', async () => {
    const other = await createTestTenant(service)
    const reader = await other.contact('ada@example.com')
    const messages = Array.from({ length: 50 }, (_, n) => ({
      ...MAIL,
      messageId: `large${n}@example.com`,
      subject: 'Large',
      sentAt: new Date(Date.UTC(2026, 0, 1, 0, n)),
      text: 'x'.repeat(256_000),
    }))
    await recordMessages(other.handle, service.writing, messages)
    const path = `/v1/contacts/${reader}/conversations?include_messages=true&messages_per_thread=50`
    const { status, body } = await other.call('GET', path)
    expect(status).toBe(200)
    const shown = body.conversations[0].messages as { text: string; truncated?: true }[]
    expect(shown).toHaveLength(50)
    expect(shown.filter(({ truncated }) => !truncated)).toHaveLength(32)
    expect(shown.at(-1)).toMatchObject({ truncated: true, text: 'x'.repeat(1_000) })
    expect(JSON.stringify(body).length).toBeLessThan(9_000_000)
  })
})
