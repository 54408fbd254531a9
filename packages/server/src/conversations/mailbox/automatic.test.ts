import { describe, expect, test } from 'vitest'
import { awkwardMail } from '../../../test/mails.ts'
import { parseMail } from './parse-mail.ts'

async function isAutomatic(lines: readonly string[], body = 'Hello') {
  const common = ['From: Ann Sample <ann@acme.example>', 'To: me@cds.example', 'Message-ID: <a1@acme.example>']
  const source = Buffer.from([...common, ...lines, '', body, ''].join('\r\n'))
  const { message, report } = await parseMail({ source, receivedAt: new Date('2026-01-02') }, 'inbox', 'identity')
  expect(report).toBeNull()
  return message.isAutomatic
}

function encoded(subject: string): string {
  return `Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=`
}

const report = (part: string, ...fields: string[]) =>
  ['--b', 'Content-Type: text/plain', '', 'See below.', '--b', `Content-Type: ${part}`, '', ...fields, '--b--'].join(
    '\r\n',
  )
const reportHeaders = (type: string) => [
  'MIME-Version: 1.0',
  `Content-Type: multipart/report; report-type=${type}; boundary=b`,
  'In-Reply-To: <sent1@cds.example>',
]

test('a read receipt is automatic', async () => {
  const source = awkwardMail('read-receipt')
  const { message } = await parseMail({ source, receivedAt: new Date('2026-01-02') }, 'inbox', 'identity')
  expect(message).toMatchObject({ isAutomatic: true, inReplyTo: 'sent1@cds.example', subject: 'Read: Offer' })
})

test('a delay report and a report of delivery are automatic, and no bounces', async () => {
  const fields = ['Reporting-MTA: dns; mx.acme.example', '', 'Final-Recipient: rfc822; ann@acme.example']
  for (const action of ['Action: delayed', 'Action: delivered', 'Action: relayed']) {
    const body = report('message/delivery-status', ...fields, action, 'Status: 4.4.1')
    expect(await isAutomatic(reportHeaders('delivery-status'), body)).toBe(true)
  }
})

/** What gateways do: a disclaimer, a signature, or a part of a report alone. */
test.each([
  ['a disclaimer', 'multipart/mixed; boundary=o', 'multipart/report; report-type=disposition-notification; boundary=b'],
  ['a signature', 'multipart/signed; boundary=o', 'multipart/report; report-type=disposition-notification; boundary=b'],
  ['nothing else', 'multipart/mixed; boundary=b', null],
])('a read receipt within %s is automatic', async (_, outer, inner) => {
  const receipt = report('message/disposition-notification', 'Disposition: manual-action/MDN-sent; displayed')
  const body = inner === null ? receipt : ['--o', `Content-Type: ${inner}`, '', receipt, '--o--'].join('\r\n')
  const headers = ['MIME-Version: 1.0', `Content-Type: ${outer}`, 'In-Reply-To: <sent1@cds.example>']
  expect(await isAutomatic(headers, body)).toBe(true)
})

test('a mail that forwards a report as a file is written by a person', async () => {
  const forwarded = ['--b', 'Content-Type: text/plain', '', 'What is this?', '--b', 'Content-Type: message/rfc822', '']
  const receipt = ['Content-Type: multipart/report; boundary=r', '', '--r', 'Content-Type: message/delivery-status', '']
  const body = [...forwarded, ...receipt, 'Action: delayed', '--r--', '--b--'].join('\r\n')
  expect(await isAutomatic(['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'], body)).toBe(false)
})

test.each([
  [['Auto-Submitted: auto-replied']],
  [['Auto-Submitted: auto-generated (rejected)']],
  [['X-Autoreply: yes']],
  [['X-Autorespond: Re: Offer']],
  [['X-Mail-Autoreply: vacation']],
  [['X-FC-MachineGenerated: true']],
  [['Precedence: auto_reply']],
  [['Precedence: Bulk']],
  [['Precedence: junk']],
  [['X-Precedence: auto_reply']],
  [['Preference: auto_reply']],
  [['Return-Path: <>']],
  [['Return-Path: <MAILER-DAEMON>']],
  [['Delivered-To: Autoresponder']],
  [['Auto-Submitted: no', 'Precedence: auto_reply']],
  [['Subject: Automatic reply: Offer']],
  [['Subject: [EXTERNAL] Automatic reply: Offer']],
  [['Subject: Out of office', 'In-Reply-To: <sent1@cds.example>']],
  [['Subject: Out of Office AutoReply: Offer']],
  [['Subject: Abwesenheitsnotiz: Angebot']],
  [['Subject: Abwesenheitsnotiz', 'References: <sent1@cds.example>']],
  [['Subject: =?utf-8?Q?R=C3=A9ponse_automatique_=3A_Offre?=']],
  [['Subject: =?utf-8?Q?Re=CC=81ponse_automatique=C2=A0=3A_Offre?=']],
  [['Subject: Respuesta =?utf-8?Q?autom=C3=A1tica?=: Oferta']],
  [['Subject: =?utf-8?B?6Ieq5Yqo5Zue5aSNOiBPZmZlcg==?=']],
  [['From: postmaster@acme.example', 'X-Failed-Recipients: ann@acme.example']],
])('%j is automatic', async (headers) => {
  expect(await isAutomatic(headers)).toBe(true)
})

test.each([
  [['X-Autoreply: no']],
  [['X-Autorespond: No']],
  [['X-Autoreply: No (written by a person)']],
  [['Auto-Submitted:']],
  [['Auto-Submitted: (a comment) no']],
  // Through a group of colleagues.
  [['List-Id: <sales.acme.example>', 'In-Reply-To: <sent1@cds.example>']],
  [['Auto-Submitted: no']],
  [['Auto-Submitted: no (written by a person)', 'Subject: Automatic reply: Offer']],
  [['X-Auto-Response-Suppress: All']],
  [['X-Auto-Response-Suppress: DR, OOF, AutoReply', 'In-Reply-To: <sent1@cds.example>']],
  [['Precedence: first-class']],
  [['Return-Path: <ann@acme.example>']],
  [['Subject: Re: Automatic reply: Offer', 'In-Reply-To: <sent1@cds.example>']],
  [['Subject: AW: Abwesenheitsnotiz', 'In-Reply-To: <sent1@cds.example>']],
  [['Subject: Out of office']],
  [['Subject: Out of officers', 'In-Reply-To: <sent1@cds.example>']],
  [['Subject: Offer: automatic reply wanted', 'In-Reply-To: <sent1@cds.example>']],
  [['Content-Type: multipart/mixed; boundary=b']],
])('%j is not', async (headers) => {
  expect(await isAutomatic(headers)).toBe(false)
})

describe('a subject', () => {
  const ANSWER = 'In-Reply-To: <sent1@cds.example>'

  test.each([
    'Out-of-Office: Offer',
    "I'm out of the office: Offer",
    '[Auto-Reply] Offer',
    '[EXT] [Auto Reply] Offer',
    'Nicht im Büro: Angebot',
    "Réponse d'absence : Offre",
    '自动答复: 报价',
    'Αυτόματη απάντηση: Προσφορά',
    'Răspuns automat: Ofertă',
    'Автоматична відповідь: Пропозиція',
    'Automatická odpoveď: Ponuka',
    'Automatski odgovor: Ponuda',
    'Автоматичен отговор: Оферта',
    'Resposta automàtica: Oferta',
    'תשובה אוטומטית: הצעה',
    'رد تلقائي: عرض',
    'Automaatvastus: Pakkumine',
    'Automatinis atsakymas: Pasiūlymas',
    'Automātiska atbilde: Piedāvājums',
    'Samodejni odgovor: Ponudba',
    'ตอบกลับอัตโนมัติ: ข้อเสนอ',
    'Trả lời tự động: Báo giá',
    'Balasan otomatis: Penawaran',
  ])('of a vacation note: %s', async (subject) => {
    expect(await isAutomatic([encoded(subject)])).toBe(true)
    expect(await isAutomatic([encoded(`Re: ${subject}`), ANSWER])).toBe(false)
  })

  test.each([
    'OOO: Offer',
    'Away: Offer',
    'Vacation: Offer',
    'Urlaub: Angebot',
    'Out of office until 3 March',
    'Abwesend bis 3. März',
    'Out of office - Ann Sample',
  ])('of a vacation note, if it answers a mail: %s', async (subject) => {
    expect(await isAutomatic([encoded(subject), ANSWER])).toBe(true)
    expect(await isAutomatic([encoded(subject)])).toBe(false)
  })

  // People keep the subject of the mail that they answer.
  test.each([
    'Out of office furniture',
    'Automatic reply tools',
    'On vacation I had an idea',
    'Abwesenheit von Frau Sample',
    'Vacation',
  ])('of people, also in an answer: %s', async (subject) => {
    expect(await isAutomatic([encoded(subject), ANSWER])).toBe(false)
  })
})
