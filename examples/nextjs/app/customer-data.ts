import { CustomerData, Tracker } from '@customer-data-service/client'

export const SERVICE_URL = process.env.CDS_URL ?? 'http://localhost:8080'

const options = { url: SERVICE_URL, apiKey: process.env.CDS_KEY ?? '' }

/** Only server code may import this: the key is secret. */
export const customerData = () => new CustomerData(options)
export const openTracker = () => new Tracker(options)
