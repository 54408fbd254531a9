import { readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { act, importOf, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { consentOf } from '../contacts/consent.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.csv`, import.meta.url), 'utf8')

/** Uploads a file and computes its preview. */
async function previewed(text: string) {
  const found = await act(tenant, await uploaded(tenant, text), 'preview', 'previewed')
  const { body } = await tenant.call('GET', `/v1/imports/${found.import_id}/preview`)
  expect(body.consent).toEqual(found.consent)
  return found
}

/** Whether a contact is written to, and which property decides that it is not. */
async function decidingProperty(email: string): Promise<string | null> {
  const { body } = await tenant.call('GET', `/v1/contacts?search=${email}`)
  return consentOf(body.contacts[0].properties)?.property ?? null
}

describe('the preview says how many contacts the import silences, and by which columns:', () => {
  test.each([
    [
      'Klaviyo',
      'Email,First Name,Email Marketing Consent,Email Suppressions\ncons.klaviyo@acme.example,K,UNSUBSCRIBED,HARD_BOUNCE\n',
      'cons.klaviyo@acme.example',
      ['Email Marketing Consent', 'Email Suppressions'],
    ],
    [
      'Salesforce',
      'Id,Email,HasOptedOutOfEmail,DoNotCall\n003,cons.salesforce@acme.example,true,true\n',
      'cons.salesforce@acme.example',
      ['HasOptedOutOfEmail'],
    ],
    [
      "Salesforce's reports",
      'First Name,Email,Email Opt Out\nR,cons.sfreport@acme.example,1\n',
      'cons.sfreport@acme.example',
      ['Email Opt Out'],
    ],
    [
      "Mailchimp's unsubscribed",
      'Email Address,First Name,MEMBER_RATING,UNSUB_TIME,UNSUB_REASON\nu@acme.example,U,2,2026-01-09 12:30:00,N/A\n',
      'u@acme.example',
      ['unsubscribed'],
    ],
    [
      "Mailchimp's cleaned",
      'Email Address,First Name,MEMBER_RATING,CLEAN_TIME\nc@acme.example,C,2,2026-01-09 12:30:00\n',
      'c@acme.example',
      ['bounced'],
    ],
    [
      'HubSpot',
      'Record ID,Email,Contact owner,Lifecycle Stage,Unsubscribed from all email\n7,h@acme.example,Ann,Lead,true\n',
      'h@acme.example',
      ['unsubscribed'],
    ],
    [
      'Shopify',
      'First Name,Email,Accepts Email Marketing,Total Spent,Total Orders\nS,s@acme.example,no,0.00,0\n',
      's@acme.example',
      ['Accepts Email Marketing'],
    ],
    [
      'Pipedrive',
      'Person - Name,Person - Email - Work,Person - Marketing status\nP,p@acme.example,unsubscribed\n',
      'p@acme.example',
      ['Person - Marketing status'],
    ],
    ['another spelling', 'email,doNotEmail\nd@acme.example,x\n', 'd@acme.example', ['doNotEmail']],
    ['a plain column of agreement', 'email,Subscribed\ns@acme.example,no\n', 's@acme.example', ['Subscribed']],
    ['consent', 'email,Consent\ns@acme.example,No\n', 's@acme.example', ['Consent']],
    ['a mailing list', 'email,Mailing List\ns@acme.example,No\n', 's@acme.example', ['Mailing List']],
    ['a complaint', 'email,Complaint\ns@acme.example,yes\n', 's@acme.example', ['Complaint']],
    ['a block', 'email,Blocked\ns@acme.example,yes\n', 's@acme.example', ['Blocked']],
    ['German', 'email,Kein Newsletter\ns@acme.example,ja\n', 's@acme.example', ['Kein Newsletter']],
    ['an accent', 'email,Émail opt out\ns@acme.example,1\n', 's@acme.example', ['Émail opt out']],
    ['tags', 'email,Tags\ns@acme.example,unsubscribed\n', 's@acme.example', ['tags']],
    ['German Excel', 'email;Opt-Out\nw@acme.example;WAHR\n', 'w@acme.example', ['Opt-Out']],
  ])('%s', async (_, text, email, properties) => {
    const found = await previewed(text)
    expect(found.consent).toMatchObject({ silenced: 1, still_silent: 0, released: 0 })
    expect(found.consent?.columns.map(({ property, contacts }) => [property, contacts])).toEqual(
      properties.map((property) => [property, 1]),
    )
    await act(tenant, found, 'start', 'completed')
    expect(properties).toContain(await decidingProperty(email))
  })

  test('an agreement silences nobody', async () => {
    const text =
      'email,Email Opt Out,Accepts Email Marketing,Email Marketing Consent\na@acme.example,0,yes,SUBSCRIBED\nb@acme.example,,TRUE,\n'
    expect((await previewed(text)).consent).toEqual({ silenced: 0, still_silent: 0, released: 0, columns: [] })
  })

  test('the whole file counts, each contact once, also those that are silent already', async () => {
    await tenant.contact('old@acme.example', { do_not_contact: true })
    const rows = Array.from({ length: 3_000 }, (_, n) => `p${n}@acme.example,${n >= 2_000 ? 'yes' : ''}\n`).join('')
    const text = `email,Email Opt Out\n${rows}p2999@acme.example,yes\nold@acme.example,1\nnobody,yes\n`
    const { consent } = await previewed(text)
    expect(consent).toEqual({
      silenced: 1_000,
      still_silent: 1,
      released: 0,
      columns: [{ column: 1, property: 'Email Opt Out', contacts: 1_001 }],
    })
  })

  test.each([
    ['email,Subscribed,Tags\na@acme.example,yes,"vip, London"\nb@acme.example,weekly,unsubscribe page\n'],
    ['email,subscribed_plan,blocked_by_manager,bounce_rate\na@acme.example,no,true,0.3\n'],
    ['email,consent_text,newsletter_signup_url,unsubscribed_at\na@acme.example,no,no,\n'],
  ])('%j silences nobody', async (text) => {
    expect((await previewed(text)).consent).toEqual({ silenced: 0, still_silent: 0, released: 0, columns: [] })
  })

  test('a word that a later row has in a column of yes and no fails no row', async () => {
    const rows = Array.from({ length: 600 }, (_, n) => `p${n}@acme.example,${n % 2 === 0}\n`).join('')
    const found = await previewed(`email,consent\n${rows}late@acme.example,withdrawn\n`)
    expect(found.mapping[1]).toMatchObject({ type: 'boolean' })
    expect(found.consent).toMatchObject({ silenced: 301 })
  })

  test('a column that is left out is warned of', async () => {
    const found = await uploaded(tenant, 'email,Email Opt Out\na@acme.example,1\nb@acme.example,0\n')
    expect(found.columns[1]?.note).toEqual({ code: 'consent' })
    await tenant.call('PUT', `/v1/imports/${found.import_id}/mapping`, { columns: [{ column: 0, target: 'email' }] })
    expect(await act(tenant, found, 'preview', 'previewed')).toMatchObject({
      consent: { silenced: 0 },
      warnings: [{ code: 'consent_ignored', rows: 1, first_rows: [1] }],
    })
  })
})

test('an unexpected word in a column of consent fails no row', async () => {
  const rows = Array.from({ length: 600 }, (_, n) => `p${n}@acme.example,${n % 2 === 0}\n`).join('')
  const found = await uploaded(tenant, `email,opted_out\n${rows}late@acme.example,asked by phone\n`)
  expect(found.mapping[1]).toMatchObject({ type: 'boolean' })
  expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ counts: { created: 601, failed: 0 } })
  expect(await decidingProperty('late@acme.example')).toBe('opted_out')
})

test('no file undoes what a person or a system has said: a blank cell, a no, or a no under another name', async () => {
  await tenant.contact('blank@acme.example', { opted_out: true })
  await tenant.contact('other@acme.example', { has_opted_out_of_email: true })
  await tenant.contact('same@acme.example', { opted_out: true })
  const text = 'email,opted_out\nblank@acme.example,\nother@acme.example,false\nsame@acme.example,false\n'
  const found = await previewed(text)
  expect(found.consent).toMatchObject({ silenced: 0, still_silent: 3, released: 0 })
  await act(tenant, found, 'start', 'completed')
  expect(await decidingProperty('blank@acme.example')).toBe('opted_out')
  expect(await decidingProperty('other@acme.example')).toBe('has_opted_out_of_email')
  expect(await decidingProperty('same@acme.example')).toBe('opted_out')
})

test('an import in progress has no counts until its preview is computed', async () => {
  const found = await uploaded(tenant, fixture('pipedrive'))
  expect((await importOf(tenant, found.import_id)).consent).toBe(null)
})
