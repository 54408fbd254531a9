import type { ChosenProperties } from '../access/chosen-properties.ts'
import { plainName } from '../contacts/property-names.ts'
import type { FieldKind } from '../platform/personal.ts'

/** Longer names are not those of real fields, and matching them takes time. */
const NAME_LENGTH_MAX = 128

/** The first part of names such as `billing_city` or `work_phone`. */
const QUALIFIERS =
  'billing|bill|shipping|ship|delivery|mailing|postal|home|work|office|business|private|personal|primary|secondary|main|additional|other|alternate|alternative|preferred|legal|current|new|old|previous|last|customer|contact|client|user|person|lead|member|employee|guest|buyer|owner|author|sender|recipient|attendee|patient|student|parent|account|ip|geo|hs|my|your'

const PEOPLE =
  'customer|contact|client|person|lead|member|employee|guest|buyer|owner|author|sender|recipient|attendee|participant|patient|student|parent|child|manager|assignee|creator|approver|reviewer|invitee|subscriber|spouse|emergencycontact'

/**
 * Names of fields as `plainName` writes them. Country and state are missing on purpose: so many people share one that it
 * identifies nobody, and reports by region need them. A city together with a job title often identifies a person.
 */
const NAMES: Record<FieldKind, string> = {
  ip: 'ip|ip(?:v4|v6)?addr(?:ess)?|clientip|remoteip|remoteaddr',
  firstname: 'firstname|fname|givenname|forename|middlename|nickname|preferredname|vorname|prenom',
  lastname: 'lastname|lname|surname|familyname|maidenname|birthname|nachname',
  name: `fullname|realname|legalname|displayname|personname|cardholder|cardholdername|nameoncard|author|sender|recipient|attendee|(?:${PEOPLE})(?:full)?name`,
  username: 'username|loginname|screenname|userhandle|handle|user',
  email: 'e?mail|(?:e?mail)address|emailid|cc|bcc|replyto',
  phone:
    '(?:tele|mobile|cell|tel)?phone(?:no|number)?|mobile(?:no|number)?|cell(?:number)?|tel|fax(?:number)?|whatsapp(?:number)?|msisdn',
  address:
    'address(?:line)?|street(?:name|address|number)?|housenumber|zip(?:code)?|postal(?:code)?|postcode|plz|city|town|hometown|suburb|district|neighbou?rhood|birthplace|location|lat|latitude|lng|lon|longitude|geo|coordinates|latlng',
  birthday: 'birthday|birthdate|dateofbirth|dob|birthyear|yearofbirth|born',
  url: 'linkedin(?:url|profile|profileurl)?|social(?:profile)?url|profile(?:url|link|page|id)|avatar(?:url)?|photo(?:url)?|picture(?:url)?|profile(?:picture|photo|image)(?:url)?|(?:twitter|x|facebook|instagram|github|gitlab|xing|mastodon|bluesky|tiktok|telegram|skype)(?:url|handle|username|profile)|twitter|facebook|instagram|github|gitlab|xing|mastodon|bluesky|tiktok|telegram|skype|gravatar(?:url)?|website(?:personal)|personal(?:website|url)',
  device:
    'fingerprint|(?:device|browser|visitor)fingerprint|deviceid|advertisingid|idfa|idfv|gaid|aaid|imei|macaddress',
  number:
    'ssn|socialsecurity(?:number)?|tax(?:id|number)|nationalid|passport(?:no|number)?|driver?s?licen[cs]e(?:number)?|iban|bankaccount(?:number)?|creditcard(?:number)?|cardnumber|password|passwd|insurancenumber',
  'free-text':
    'bio|biography|about|aboutme|notes?|comments?|message(?:text|body)?|messages|body|content|feedback|inquiry|enquiry|question|remarks?|signature|transcript|freetext|subject|nachricht|bemerkung',
  // Only properties that the tenant marks have this kind.
  value: '(?!)',
}

const PATTERNS = Object.entries(NAMES).map(
  ([kind, names]) => [kind as FieldKind, new RegExp(`^(?:${QUALIFIERS})*(?:${names})s?\\d*$`)] as const,
)

/**
 * An expression for the database that matches all names that may be personal. Of a flattened trait such as `address.street`,
 * one part is enough. Free texts are not looked up.
 */
export const PERSONAL_NAMES = `(^|[.])(${QUALIFIERS})*(${Object.entries(NAMES)
  .filter(([kind]) => kind !== 'free-text' && kind !== 'value')
  .map(([, names]) => names.replaceAll('(?:', '('))
  .join('|')}|name)s?[0-9]*([.]|$)|email$`

/** A set of the words of a text. */
export const listOf = (words: string) => new Set(words.trim().split(/\s+/))

/** Properties that describe a group of people. Countries are first names too (Jordan, Chad), and reports need them. */
const OF_GROUP = listOf(`
  country countrycode currency industry language lifecyclestage leadstatus locale region sector state timezone`)
/** Objects about people, which have fields of other kinds too. */
export const PERSON_PARENTS = listOf(`
  actor attendee author bcc cc created_by customer decided_by from invited_by member merged_by owner participants person
  recipient replyto requested_by sender to traits user`)

/** Whether a name, as `plainName` writes it, belongs to a property that describes a group of people. */
export function isOfGroup(plain: string): boolean {
  return OF_GROUP.has(lastPart(plain))
}

/** `street` of a flattened trait `address.street`. */
function lastPart(plain: string): string {
  return plain.slice(plain.lastIndexOf('.') + 1)
}

/** The kind of a field by its name; null if it is not personal. */
export type KindOfName = (name: string) => FieldKind | null

/** @param chosen what the tenant says about names; the vocabulary decides about all others */
export function personalNames({ personal, visible }: ChosenProperties): KindOfName {
  const marks = new Set(personal.map(plainName))
  const shown = new Set(visible.map(plainName))
  const known = new Map<string, FieldKind | null>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const plain = plainName(name)
    const kind = shown.has(plain) ? null : kindOf(plain, marks)
    known.set(name, kind)
    return kind
  }
}

function kindOf(plain: string, marks: ReadonlySet<string>): FieldKind | null {
  const kind = plain.length > NAME_LENGTH_MAX ? null : (kindOfPart(lastPart(plain)) ?? kindOfParents(plain))
  return kind ?? (marks.has(plain) ? 'value' : null)
}

function kindOfPart(part: string): FieldKind | null {
  const [kind] = PATTERNS.find(([, pattern]) => pattern.test(part)) ?? []
  return kind ?? (part.endsWith('email') ? 'email' : null)
}

/** The kind of the object that contained a flattened trait, and of everything in it: `address` for `address.floor`. */
function kindOfParents(plain: string): FieldKind | null {
  if (isOfGroup(plain)) return null
  const kinds = plain
    .split('.')
    .slice(0, -1)
    .map((part) => {
      if (PERSON_PARENTS.has(part)) return null
      return part === 'name' ? 'name' : kindOfPart(part)
    })
  return kinds.findLast((kind) => kind !== null) ?? null
}
