import Script from 'next/script'
import type { ReactNode } from 'react'
import { SERVICE_URL } from './customer-data.ts'

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        {children}
        <Script src={`${SERVICE_URL}/tracker.js`} strategy="afterInteractive" />
      </body>
    </html>
  )
}
