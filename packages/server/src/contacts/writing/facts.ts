/** Where a person's network was, see platform/places.ts. The region and the city may be empty. */
export interface SeenPlace {
  country: string
  region: string
  city: string
  /** When the person was seen there. */
  at: Date
}

/** What was seen of a contact besides its own values. Enrichment may find something in it. */
export interface Facts {
  place?: SeenPlace
  /** The name beside its address in a mail, as sent. */
  nameInMail?: string
  /** Somebody asks for an enrichment now, although nothing has changed. */
  isAsked?: true
}
