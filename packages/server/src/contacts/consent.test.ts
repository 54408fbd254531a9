import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { consentOf, isConsent, ruleBrokenBy, withoutConsent } from './consent.ts'

describe('names of consent, in every spelling', () => {
  test.each([
    'do_not_contact',
    'doNotContact',
    'Do Not Contact',
    'do-not-email',
    "Don't Email",
    'Do not allow Bulk Emails',
    'donotbulkemail',
    'unsubscribed',
    'unsubscribed_at',
    'unsubscribedAt',
    'Unsubscribed from Emails',
    'unsubscribed_from_emails',
    'UNSUB_TIME',
    'UNSUB_REASON_OTHER',
    'Unsubscribed from all email',
    'opted_out',
    'optedOut',
    'opt-out',
    'optOutDate',
    'has_opted_out_of_email',
    'HasOptedOutOfEmail',
    'PersonHasOptedOutOfEmail',
    'salesforce_hasoptedoutofemail',
    'Marketing_Opt_Out__c',
    'hs_email_optout',
    'hs_email_optout_10841063',
    'Opted out of email: Marketing Information',
    'email_opt_out',
    'Email Opt Out',
    'EMAIL_OPTED_OUT',
    'EMAIL_BLACKLIST',
    'emailBlacklisted',
    'Email Suppressions',
    'IsExcludedFromCampaigns',
    'IsSpamComplaining',
    'marked_email_as_spam',
    'complained',
    'complained_at',
    'marketingSuspended',
    'bounced',
    'has_hard_bounced',
    'bounced_hard',
    'hs_email_hard_bounce_reason_enum',
    'IsEmailBounced',
    'EmailBouncedDate',
    'hs_email_bad_address',
    'Invalid email address',
    'CLEAN_TIME',
    'accepts_marketing',
    'Accepts Email Marketing',
    'Email Marketing Consent',
    'subscriptions.email.marketing.consent',
    'email_marketing_consent.state',
    'emailMarketingConsent.marketingState',
    'Person - Marketing status',
    'email_opt_in',
    'permission_to_send',
    'DoNotCall',
    'sms_opt_out',
    'No Email',
    'no_mail',
    'stop_emails',
    'dnc',
    'dne',
    'globally_unsubscribed',
    'spam_reports',
    'reported_spam',
    'email_disabled',
  ])('%s', (name) => {
    expect(isConsent(name)).toBe(true)
  })

  test.each([
    'email',
    'work_email',
    'firstname',
    'state',
    'status',
    'newsletter',
    'mailable',
    'email_status',
    'subscribed',
    'subscription',
    'complaints',
    'bounce_rate',
    'unsubscribe_url',
    'accepts_marketing_updated_at',
    'OPTIN_TIME',
    'marketing_opt_in_level',
    'Marketing contact status',
    'Enrichment opt out',
    'donation',
    'market',
    '',
  ])('not %j', (name) => {
    expect(isConsent(name)).toBe(false)
  })
})

test.each([
  ['has_opted_out_of_email', true],
  ['has_opted_out_of_email', 'true'],
  ['Email Opt Out', '1'],
  ['Email Opt Out', 1],
  ['Email Opt Out', 'WAHR'],
  ['opted_out', 'Yes'],
  ['opted_out', 'on'],
  ['opted_out', '✓'],
  ['opted_out', 'asked by phone'],
  ['unsubscribed_at', '2026-01-09 12:30:00'],
  ['hs_email_optout', ['true']],
  ['Do not allow Emails', 'Do Not Allow'],
  ['accepts_marketing', false],
  ['accepts_marketing', 'no'],
  ['Accepts Email Marketing', '0'],
  ['accepts_marketing', 'maybe'],
  ['Email Marketing Consent', 'UNSUBSCRIBED'],
  ['Email Marketing Consent', 'NEVER_SUBSCRIBED'],
  ['email_marketing_consent.state', 'not_subscribed'],
  ['email_marketing_consent.state', 'pending'],
  ['Email Suppressions', 'USER_SUPPRESSED'],
  ['Email Suppressions', '["HARD_BOUNCE","USER_SUPPRESSED"]'],
  ['marketing_status', 'no_consent'],
  ['mailchimp_status', 'unsubscribed'],
  ['lead_status', 'Do not contact'],
  ['marketing_consent', 'I agree to receive no mail'],
  ['marketing_consent', 'Yes, I want to unsubscribe'],
  ['No Email', 'Yes'],
  ['spam_reports', 1],
  ['email_disabled', 'true'],
  ['Email Marketing', 'Unsubscribed'],
  ['email_campaigns', 'Blocklisted'],
  ['newsletter', 'unsubscribed'],
  ['newsletter', false],
  ['Newsletter', 'Nein'],
  ['mailable', 'No'],
  ['emailable', false],
  ['Contactable', '0'],
  ['email_status', 'NonMarketable'],
] as const)('%s = %j silences by the rule unsubscribed', (name, value) => {
  expect(ruleBrokenBy(name, value)).toBe('unsubscribed')
})

test.each([
  ['bounced', true],
  ['has_hard_bounced', 'true'],
  ['hs_email_hard_bounce_reason', 'UNKNOWN_USER'],
  ['EmailBouncedDate', '2026-01-01'],
  ['Email Suppressions', 'HARD_BOUNCE'],
  ['status', 'cleaned'],
  ['Email Status', 'Hard bounced'],
  ['Bounces Hard', 1],
  ['hard_bounces', '2'],
  ['email_status', 'invalid'],
  ['emailStatus', 'INVALID'],
  ['email_valid', false],
  ['is_email_deliverable', 'no'],
] as const)('%s = %j silences by the rule bounced', (name, value) => {
  expect(ruleBrokenBy(name, value)).toBe('bounced')
})

test.each([
  ['has_opted_out_of_email', false],
  ['has_opted_out_of_email', 'FALSE'],
  ['Email Opt Out', '0'],
  ['Email Opt Out', 'FALSCH'],
  ['opted_out', 'N/A'],
  ['unsubscribed_at', ''],
  ['unsubscribed_at', '-'],
  ['bounced_date', '0000-00-00'],
  ['Email Suppressions', []],
  ['Email Suppressions', '[]'],
  ['Do not allow Emails', 'Allow'],
  ['accepts_marketing', true],
  ['accepts_marketing', 'yes'],
  ['email_opt_in', '2026-01-01T00:00:00Z'],
  ['Email Marketing Consent', 'SUBSCRIBED'],
  ['email_marketing_consent', ''],
  ['status', 'active'],
  ['status', 'yes'],
  ['state', 'NY'],
  ['do_not_call', true],
  ['DoNotCall', 'true'],
  ['HasOptedOutOfFax', true],
  ['sms_opt_out', true],
  ['firstname', 'unsubscribed'],
  ['unsubscribed', 'não'],
  ['unsubscribed', 'Nie'],
  ['do_not_contact', 'нет'],
  ['do_not_contact', 'いいえ'],
  ['unsubscribed_at', '0001-01-01T00:00:00Z'],
  ['unsubscribed_at', '1970-01-01 00:00:00'],
  ['unsubscribed_at', '1970-01-01'],
  ['blocklisted', 'Not blocklisted'],
  ['Email Suppressions', 'NEVER_SUPPRESSED'],
  ['bounced', 'delivered'],
  ['Bounces Hard', 0],
  ['Bounces Soft', 3],
  ['gdpr_consent', 'I agree'],
  ['marketing_consent', 'Yes, I want to receive emails'],
  ['email_opt_in', 'double'],
  ['receive_emails', 'weekly'],
  ['newsletter', 'weekly'],
  ['newsletter', ''],
  ['newsletter', true],
  ['mailable', 'Yes'],
  ['email_valid', 'unknown'],
  ['email_status', 'valid'],
  ['email_status', 'catch-all'],
  ['Email Marketing', 'TRUE'],
  ['status', 'invalid'],
] as const)('%s = %j silences nothing', (name, value) => {
  expect(ruleBrokenBy(name, value)).toBeNull()
})

test("what the person asked for decides before a bounce, and the service's own word before all", () => {
  const bounced = { firstname: 'Ada', bounced: true }
  expect(consentOf(bounced)).toEqual({ property: 'bounced', value: true, rule: 'bounced' })
  const asked = { ...bounced, hs_email_optout: 'true' }
  expect(consentOf(asked)).toEqual({ property: 'hs_email_optout', value: 'true', rule: 'unsubscribed' })
  expect(consentOf({ ...asked, do_not_contact: true })?.rule).toBe('do_not_contact')
  expect(consentOf({ ...asked, doNotContact: true })?.rule).toBe('unsubscribed')
  expect(consentOf({ firstname: 'Ada', unsubscribed: false, accepts_marketing: true })).toBeNull()
})

test('a record counts all but a few short values of consent', () => {
  const identity = (value: unknown) => value
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`hs_email_optout_${at}`, true]))
  expect(Object.keys(withoutConsent({ ...many, unsubscribed: true, do_not_contact: 'yes' }, identity))).toHaveLength(10)
  const long = { optedOut: 'x'.repeat(41), firstname: 'Ada' }
  expect(withoutConsent(long, identity)).toEqual(long)
})

test('a name that repeats the words of consent, but ends otherwise, is none', () => {
  const words = ['all', 'email', 'emails', 'is', 'datetime', 'mailinglist', 'optout', 'contact', 'hubspot', 'not', 'c']
  const filled = (start: string, word: string) => `${(start + word.repeat(128)).slice(0, 127)}x`
  const names = words.flatMap((word) => [filled('', word), filled('unsubscribed', word)])
  expect(names.filter(isConsent)).toEqual([])
})

test('a name that is too long for a property is none, however long it is', () => {
  const names = ['email opt out'.padEnd(129), `unsubscribed ${'all '.repeat(400)}`, 'is'.repeat(100_000)]
  expect(names.filter(isConsent)).toEqual([])
})

/** A part of a text keeps the whole text in memory. */
test('no value is kept in memory after it was judged', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const usedMb = () => {
    collect()
    return process.memoryUsage().heapUsed / 1e6
  }
  const before = usedMb()
  for (let i = 0; i < 2_000; i++) {
    const padding = 'a'.repeat(65_000)
    ruleBrokenBy('tags', JSON.parse(`"tag-with-number-${i},${padding}"`))
    ruleBrokenBy('newsletter', JSON.parse(`[" weekly-letter-number-${i}${' '.repeat(1_000)}"]`))
  }
  expect(usedMb() - before).toBeLessThan(60)
})

describe('a long value', () => {
  // Each character becomes eighteen when it is normalized, which took 100 ms or more for the whole text.
  const LONG = '\ufdfa'.repeat(65_000)
  afterEach(() => vi.restoreAllMocks())

  test.each(['newsletter', 'marketing_consent', 'opted_out', 'bounced', 'email_status', 'tags'])(
    'is never normalized as a whole: %s',
    (name) => {
      const normalize = vi.spyOn(String.prototype, 'normalize')
      ruleBrokenBy(name, `${LONG} x`)
      const lengths = normalize.mock.contexts.map((text) => String(text).length)
      // The start of it, before and after.
      expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(500 * 18)
    },
  )

  test.each([
    ['marketing_consent', `I agree to ${'what was said '.repeat(60)}`, null],
    ['marketing_consent', `I agree to ${'what was said '.repeat(60)}, but not to mail`, 'unsubscribed'],
    ['marketing_consent', `yes${'-'.repeat(600)}unsubscribed`, 'unsubscribed'],
    ['opted_out', `no${'-'.repeat(600)}mail`, 'unsubscribed'],
    ['opted_out', `${'-'.repeat(600)}yes`, 'unsubscribed'],
    ['opted_out', '-'.repeat(600), null],
    ['opted_out', `bounced ${'or invalid '.repeat(60)}by the user`, 'unsubscribed'],
    ['bounced', `550 ${'no such user '.repeat(60)}`, 'bounced'],
    ['newsletter', `no${' '.repeat(600)}`, 'unsubscribed'],
    ['newsletter', `no ${'comment '.repeat(80)}`, null],
    ['tags', `${'customer,'.repeat(1_000)}Unsubscribed`, 'unsubscribed'],
    ['tags', `${'x'.repeat(5_000)}, Unsubscribed`, 'unsubscribed'],
  ])('means the same: %s, %#', (name, value, rule) => {
    expect(ruleBrokenBy(name, value)).toBe(rule)
  })
})
