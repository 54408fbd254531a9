/** First names and what people with them are called. A short form may belong to several names, which are not each other's. */
const NICKNAMES = `
abigail: abby gail
albert: al bert
alexander: alex alec sascha sasha xander
alexandra: alex sandra sasha lexi
alfred: alf fred
andrew: andy drew
anthony: tony
antonio: toni tonio
antonia: toni
barbara: barb barbie
benjamin: ben benny benji
bernard: bernie
catherine: cathy kate katie cat
katherine: kathy kate katie kat
charles: charlie chuck chas
charlotte: charlie lotte
christian: chris
christina: chris tina christy
christine: chris tina christy
christopher: chris topher kit
daniel: dan danny
david: dave davey
deborah: deb debbie
dominic: dom nick
donald: don donnie
dorothy: dot dottie
edward: ed eddie ted ned
eleanor: ellie nell nora
elizabeth: liz lizzie beth betty eliza lisa
elisabeth: lisa elli sissi
emily: em emmy
eugene: gene
francis: frank
frances: fran franny
frederick: fred freddie rick
friedrich: fritz
gabriel: gabe
gerald: gerry jerry
gregory: greg
guillermo: memo
harold: harry hal
henry: harry hank
isabella: isa bella izzy
jacob: jake
james: jim jimmy jamie
jennifer: jen jenny
jessica: jess jessie
johannes: hannes jo
john: jack johnny
jonathan: jon jonny
joseph: joe joey
josef: sepp joe
josephine: jo josie
joshua: josh
judith: judy
kenneth: ken kenny
kimberly: kim
lawrence: larry
leonard: len lenny leo
louis: lou
louise: lou
margaret: maggie meg peggy marge
maria: mia
matthew: matt
matthias: matze mat
maximilian: max
michael: mike mick mickey micha
michelle: shelly
nathaniel: nate nathan
nicholas: nick nicky
nicole: nicky nicki
patricia: pat patty trish tricia
patrick: pat paddy
peter: pete
philip: phil
phillip: phil
rachel: rae
raymond: ray
rebecca: becky becca
richard: rick dick rich ricky
robert: bob rob bobby robbie bert
ronald: ron ronnie
samantha: sam
samuel: sam sammy
sebastian: seb basti
stephanie: steph
stephen: steve
steven: steve
susan: sue suzy
suzanne: sue suzy
theodore: ted theo teddy
thomas: tom tommy
timothy: tim timmy
valerie: val
veronica: ronnie vera
victoria: vicky tori
vincent: vince vinny
walter: walt
wilhelm: willi
william: bill will billy liam willy
zachary: zach zack
`

/** The full names that a name may stand for; a full name stands for itself. */
const STANDS_FOR = new Map<string, Set<string>>()
for (const line of NICKNAMES.trim().split('\n')) {
  const [full = '', ...short] = line.split(/:? /)
  for (const name of [full, ...short]) STANDS_FOR.set(name, (STANDS_FOR.get(name) ?? new Set()).add(full))
}

/** Whether two first names may be of one person: a name and its short form, or two short forms of one name. */
export function isNickname(a: string, b: string): boolean {
  const [ofA, ofB] = [STANDS_FOR.get(a), STANDS_FOR.get(b)]
  return ofA !== undefined && ofB !== undefined && !ofA.isDisjointFrom(ofB)
}
