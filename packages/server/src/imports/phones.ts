const PHONE = /^\+?[\d\s()./–-]{6,}(?:\s*(?:ext|x|durchwahl|poste)\.?\s*\d+)?$/i
/** Longer cells are no phone numbers, and are not searched for one. */
const LENGTH_MAX = 60
const NAMED_PHONE =
  /phone|mobile?\b|cell|\btel\b|telef|téléph|handy|whatsapp|\bfax\b|rufnummer|portable|celular|móvil|携帯|電話|电话|手机|телефон/iu

/** Whether a column is named as one for phone numbers. */
export function isPhoneColumn(name: string): boolean {
  return NAMED_PHONE.test(name)
}

export function looksLikePhone(cell: string): boolean {
  return cell.length <= LENGTH_MAX && PHONE.test(cell.replace(/^tel:/i, '').trim())
}

/**
 * A phone number as people write it, with `+` in place of `00` and without a zero in brackets that nobody dials from abroad.
 * Its country stays open unless the number says it. What is no phone number stays as it is.
 */
export function readablePhone(cell: string): string {
  if (!looksLikePhone(cell)) return cell
  const number = cell.replace(/^tel:/i, '').replace(/\s+/g, ' ').trim()
  const digits = number.replace(/\D/g, '').length
  const international = digits > 9 ? number.replace(/^00\s?(?=[1-9])/, '+') : number
  return international.replace(/^(\+\d[\d\s]*?)\s*\(0\)\s*/, '$1 ')
}
