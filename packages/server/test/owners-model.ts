/**
 * Which contact an event belongs to, by the rules alone, for sequential requests of one tenant. An event belongs to an
 * owner: the contact of its visitor, else the visitor's anonymous episode. Owners move as a whole, and no event ever
 * changes its owner.
 */
export interface World {
  /** The email of each existing contact. */
  contacts: Map<string, string>
  visitors: Map<string, { contactId: string | null; episode: number }>
  /** Owners that belong to another contact, or were moved back to themselves. */
  links: Map<string, string>
  /** In the order of the merges. */
  merges: Merge[]
}

interface Merge {
  contactId: string
  email: string
  into: string
  survivorId: string
  moved: { visitors: string[]; owners: string[]; merged: string[] }
}

export function emptyWorld(): World {
  return { contacts: new Map(), visitors: new Map(), links: new Map(), merges: [] }
}

/** The owner of an event that a visitor sends now. */
export function ownerOf({ visitors }: World, visitor: string): string {
  const { contactId, episode } = visitors.get(visitor) ?? { contactId: null, episode: 0 }
  return contactId ?? `${visitor}#${episode}`
}

/** The contact of an owner's events; null while they are anonymous. */
export function contactOf({ links }: World, owner: string): string | null {
  return links.get(owner) ?? (owner.includes('#') ? null : owner)
}

/** The contact for an email: the one that has it, or the survivor of its merge. */
export function holderOf({ contacts, merges }: World, email: string): string | null {
  for (const [contactId, own] of contacts) if (own === email) return contactId
  return merges.find((merge) => merge.email === email)?.survivorId ?? null
}

/** Identifies a visitor, if there is one, by an email; `contactId` is the contact. */
export function identify(world: World, visitor: string | null, email: string, contactId: string): void {
  if (holderOf(world, email) === null) world.contacts.set(contactId, email)
  if (visitor === null) return
  const { contactId: before, episode } = world.visitors.get(visitor) ?? { contactId: null, episode: 0 }
  if (before === null) world.links.set(ownerOf(world, visitor), contactId)
  world.visitors.set(visitor, { contactId, episode })
}

/** Deletes a contact and the contacts merged into it. Its events keep their owner. */
export function remove(world: World, contactId: string): void {
  world.contacts.delete(contactId)
  world.merges = world.merges.filter(({ survivorId }) => survivorId !== contactId)
  for (const [visitor, { contactId: its, episode }] of world.visitors) {
    if (its === contactId) world.visitors.set(visitor, { contactId: null, episode: episode + 1 })
  }
}

export function merge(world: World, contactId: string, into: string): void {
  const linked = [...world.links].flatMap(([owner, its]) => (its === contactId ? [owner] : []))
  const owners = [...new Set([...linked, contactId])]
  const visitors = [...world.visitors].flatMap(([visitor, its]) => (its.contactId === contactId ? [visitor] : []))
  const followers = world.merges.filter(({ survivorId }) => survivorId === contactId)
  for (const owner of owners) world.links.set(owner, into)
  moveVisitors(world, visitors, into)
  for (const follower of followers) follower.survivorId = into
  const moved = { visitors, owners, merged: followers.map((follower) => follower.contactId) }
  const email = world.contacts.get(contactId) ?? ''
  world.merges.push({ contactId, email, into, survivorId: into, moved })
  world.contacts.delete(contactId)
}

/** The merged contacts that can be unmerged: the latest one of each survivor. */
export function unmergeable({ merges }: World): string[] {
  const direct = merges.filter(({ into, survivorId }) => into === survivorId)
  return direct.filter((each, index) => !direct.slice(index + 1).some(({ into }) => into === each.into)).map(idOf)
}

/** Moves everything back that has not been moved elsewhere since. */
export function unmerge(world: World, contactId: string): void {
  const merge = world.merges.find((each) => each.contactId === contactId)
  if (!merge) return
  const { email, into, moved } = merge
  world.merges = world.merges.filter((each) => each !== merge)
  world.contacts.set(contactId, email)
  for (const owner of moved.owners) world.links.set(owner, contactId)
  moveVisitors(
    world,
    moved.visitors.filter((visitor) => world.visitors.get(visitor)?.contactId === into),
    contactId,
  )
  for (const each of world.merges) if (moved.merged.includes(each.contactId)) each.survivorId = contactId
}

function moveVisitors({ visitors }: World, ids: readonly string[], contactId: string): void {
  for (const id of ids) visitors.set(id, { episode: visitors.get(id)?.episode ?? 0, contactId })
}

const idOf = ({ contactId }: Merge) => contactId
