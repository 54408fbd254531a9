import { expect, test } from 'vitest'
import { awkwardMail } from '../../../test/mails.ts'
import { parseMail } from './parse-mail.ts'

async function isAutomatic(lines: readonly string[], body = 'Hello') {
  const common = ['From: Ann Sample <ann@acme.example>', 'To: me@cds.example', 'Message-ID: <a1@acme.example>']
  const source = Buffer.from([...common, ...lines, '', body, ''].join('\r\n'))
  const { message, report } = await parseMail({ source, receivedAt: new Date('2026-01-02') }, 'inbox', 'identity')
  expect(report).toBeNull()
  return message.isAutomatic
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
])('%j is automatic', async (headers) => {
  expect(await isAutomatic(headers)).toBe(true)
})

test.each([
  [['X-Autoreply: no']],
  [['X-Autorespond: No']],
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
