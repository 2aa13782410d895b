// Runs in browsers: puts Swagger UI into the page, in the colours that the reader prefers.
const dark = matchMedia('(prefers-color-scheme: dark)')
const colour = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
colour()
dark.addEventListener('change', colour)

const reference = SwaggerUIBundle({
  url: document.body.dataset.document,
  domNode: document.querySelector('#reference'),
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  // Nobody else is told which document is shown here.
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
})

const told = document.querySelector('#session span')
document.querySelector('#use-session').addEventListener('click', async () => {
  const answer = await fetch('/identity/api/auth/token')
  if (!answer.ok) {
    told.textContent = 'Nobody is signed in here: sign in at /identity/login first.'
    return
  }
  const { accessToken, expiresAt } = await answer.json()
  reference.preauthorizeApiKey('bearer', accessToken)
  told.textContent = `Calls carry your token until ${new Date(expiresAt).toLocaleTimeString()}.`
})
