import './ui/styles.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { takeNonce } from './app/nonce.ts'

takeNonce()
const root = document.getElementById('root')
if (!root) throw new Error('The page has no place for the dashboard.')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
