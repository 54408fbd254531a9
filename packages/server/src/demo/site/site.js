// The queue works before the tracker has loaded.
window.service = window.service || []
service.track = service.track || ((name, data) => service.push(['track', name, data]))

addEventListener('DOMContentLoaded', () => {
  const find = (selector) => document.querySelector(selector)
  find('#hero-offer')?.addEventListener('click', () => {
    find('#offer').hidden = false
  })
  find('[data-command=opt-out]')?.addEventListener('click', () => service.push(['optOut']))

  // The tracker has set the cookie by the time the first event is sent.
  const showMe = setInterval(() => {
    const [, visitor] = /(?:^|; )service_visitor_id=([^;]+)/.exec(document.cookie) || []
    if (!visitor) return
    clearInterval(showMe)
    find('#me').href = `/visitors/${visitor}`
    find('#me').hidden = false
  }, 200)

  const showLamp = () => {
    const [, lamp] = /^#\/lamp\/(\w+)$/.exec(location.hash) || []
    if (!find('#lamp')) return
    find('#lamp').hidden = !lamp
    if (lamp) document.title = find('#lamp h2').textContent = `${lamp[0].toUpperCase()}${lamp.slice(1)}`
  }
  addEventListener('hashchange', showLamp)
  showLamp()
  find('#add')?.addEventListener('click', () => {
    service.track('added_to_basket', { lamp: location.hash.split('/').pop() })
    find('#basket').textContent = 'It is in your basket.'
  })

  const film = find('#film')
  film?.addEventListener('timeupdate', () => {
    if (film.currentTime < film.duration / 2 || film.dataset.asked) return
    film.dataset.asked = 'yes'
    film.pause()
    find('#film-email').hidden = false
  })
  find('#film-email')?.addEventListener('submit', (event) => {
    event.preventDefault()
    find('#film-email').hidden = true
    film.play()
  })
  find('#contact')?.addEventListener('submit', (event) => {
    event.preventDefault()
    const form = new FormData(event.target)
    service.push(['identify', null, { email: form.get('email'), firstname: form.get('firstName') }])
    find('#thanks').hidden = false
  })
})
