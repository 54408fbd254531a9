import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'

/** An email exactly as it would be sent. */
export const mailPreviewQuery = (mail: { subject: string; message: string }) =>
  queryOptions({
    queryKey: ['mail-preview', mail],
    queryFn: ({ signal }) => call('previewMail', mail, signal),
    select: ({ preview }) => preview,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
