import { setUpPage } from './page.ts'
import { setUpSearch } from './search.ts'

setUpPage()
setUpSearch()
