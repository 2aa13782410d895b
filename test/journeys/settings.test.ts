import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { openBrowser as openPushBrowser } from '../subgraphs/launcher/notification/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('the settings of the launcher in a browser', () => {
  it('keeps households in personal context: created, invited to, withdrawn, joined, declined, renamed, shown, left and deleted', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, ready, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    const address = `${web.launcher}/settings/households`
    await enter(address)
    // In an organization the page offers personal context, and comes back to itself there.
    await page.getByText('Households belong to people').waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Switch to personal context' }).click()
    await page.getByRole('region', { name: 'Demo Home' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings/households')
    expect(await findings()).toEqual([])

    await page.getByRole('button', { name: 'Create household' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create household' }).click()
    await dialog.getByText('This cannot be empty.').waitFor()
    await dialog.getByLabel('Name of the household').fill('Garden Street')
    expect(await findings()).toEqual([])
    // What was typed outlives a reload.
    await page.reload()
    await ready()
    await page.getByRole('button', { name: 'Create household' }).click()
    expect(await dialog.getByLabel('Name of the household').inputValue()).toBe('Garden Street')
    await dialog.getByLabel('Name of the household').focus()
    await page.keyboard.press('Enter')
    const household = page.getByRole('region', { name: 'Garden Street' })
    await household.getByText('(you)').waitFor()
    await household.getByText('A household keeps an owner').waitFor()
    // Its only owner can neither leave nor become less.
    expect(await household.getByRole('button', { name: /^Remove|^Role of/ }).count()).toBe(0)

    const invite = async (email: string) => {
      await household.getByRole('button', { name: 'Invite person to Garden Street' }).click()
      await dialog.getByLabel('Mail address').fill(email)
      await dialog.getByRole('button', { name: 'Send invitation' }).click()
      await household.getByText(email).waitFor()
    }
    await household.getByRole('button', { name: 'Invite person to Garden Street' }).click()
    await dialog.getByLabel('Mail address').fill('nobody')
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await dialog.getByText('This is no mail address.').waitFor()
    expect(await findings()).toEqual([])
    await page.keyboard.press('Escape')
    for (const email of ['member@demo.test', 'admin@demo.test', 'guest@home.test']) await invite(email)
    expect(await findings()).toEqual([])
    await household.getByRole('button', { name: 'Withdraw invitation: guest@home.test' }).press('Enter')
    const sure = page.getByRole('alertdialog')
    await sure.getByText('guest@home.test can no longer accept it.').waitFor()
    expect(await findings()).toEqual([])
    await sure.getByRole('button', { name: 'Withdraw invitation' }).press('Enter')
    await page.getByText('The invitation of guest@home.test was withdrawn').waitFor()
    await expect.poll(() => household.getByText('guest@home.test').count()).toBe(0)

    const member = await web.visit({ reducedMotion: 'reduce' })
    await member.enter(address, 'member@demo.test')
    await member.page.getByRole('button', { name: 'Switch to personal context' }).click()
    await member.page.getByText('As Adult').waitFor()
    expect(await member.findings()).toEqual([])
    await member.page.getByRole('button', { name: 'Join household: Garden Street' }).click()
    const joined = member.page.getByRole('region', { name: 'Garden Street' })
    await joined.getByText('Adults see the household and invite others.').waitFor()
    expect(await member.page.getByRole('button', { name: /^Join household/ }).count()).toBe(0)
    expect(await joined.getByRole('button', { name: /^Remove|^Role of/ }).count()).toBe(0)

    // The address that the mail of an invitation names.
    const admin = await web.visit()
    await admin.enter(`${web.url}/launcher/settings/households`, 'admin@demo.test')
    await admin.page.getByRole('button', { name: 'Switch to personal context' }).click()
    await admin.page.getByRole('button', { name: 'Decline invitation: Garden Street' }).click()
    await admin.page.getByText('create a household and invite them').waitFor()
    expect(await admin.findings()).toEqual([])

    await page.reload()
    await household.getByRole('button', { name: /Role of/ }).waitFor()
    expect(await household.getByText('admin@demo.test').count()).toBe(0)
    const more = household.getByRole('button', { name: 'More: Garden Street' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Show on your pages' }).click()
    await household.getByText('Shown on your pages').waitFor()
    await more.click()
    await page.getByRole('menuitem', { name: 'Rename household' }).click()
    await dialog.getByLabel('Name of the household').fill('Garden Street 4')
    await dialog.getByRole('button', { name: 'Rename household' }).click()
    const renamed = page.getByRole('region', { name: 'Garden Street 4' })
    await renamed.waitFor()
    await page.reload()
    await renamed.getByText('Shown on your pages').waitFor()

    // Once there is another owner, the first one may leave.
    await renamed.getByRole('button', { name: /Role of/ }).click()
    await page.getByRole('option', { name: 'Owner' }).click()
    await renamed.getByText('Owners change everything here').waitFor()
    expect(await findings()).toEqual([])
    await renamed.getByRole('button', { name: 'More: Garden Street 4' }).click()
    await page.getByRole('menuitem', { name: 'Leave household' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave household' }).click()
    await expect.poll(() => renamed.count()).toBe(0)

    await member.page.reload()
    const last = member.page.getByRole('region', { name: 'Garden Street 4' })
    await last.getByText('A household keeps an owner').waitFor()
    await last.getByRole('button', { name: 'More: Garden Street 4' }).click()
    await member.page.getByRole('menuitem', { name: 'Delete household' }).click()
    await member.page.getByRole('alertdialog').getByText('This cannot be taken back.').waitFor()
    expect(await member.findings()).toEqual([])
    await member.page.getByRole('alertdialog').getByRole('button', { name: 'Delete household' }).click()
    await expect.poll(() => last.count()).toBe(0)
    expect([...(await violations()), ...(await member.violations())]).toEqual([])
  })

  it('keeps when and how somebody is told: time zone, quiet hours, digest, and rules in their order', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, ready, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    await enter(`${web.launcher}/settings/notifications`)
    await page.getByText('This device is in Europe/Berlin.').waitFor()
    await page.getByText('Everything comes as a notification here').waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Use this time zone' }).click()
    await page.getByLabel('Keep quiet at night').check()
    await page.getByLabel('From', { exact: true }).fill('22:00')
    await page.getByLabel('To', { exact: true }).fill('22:00')
    await page.getByText('Quiet hours end at another time than they begin.').waitFor()
    expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true)
    await page.getByLabel('To', { exact: true }).fill('06:30')
    await page.getByRole('button', { name: /Digest by mail/ }).click()
    await page.getByRole('option', { name: 'Each week' }).click()
    await page.getByRole('button', { name: /^Monday/ }).click()
    await page.getByRole('option', { name: 'Friday' }).click()
    await page.getByLabel('At', { exact: true }).fill('17:15')
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Your times were saved').waitFor()

    // Saved elsewhere meanwhile: both versions are shown, and one of them is chosen.
    const elsewhere = await signIn(web.url, 'owner@demo.test')
    const save = 'mutation($input: UpdateNotificationPreferencesInput!) { updateNotificationPreferences(input: $input) { timeZone } }'
    const differences = page.getByRole('alert').filter({ hasText: 'Somebody changed this meanwhile' })
    await elsewhere.query(save, { input: { timeZone: 'Asia/Tokyo' } })
    await page.getByLabel('To', { exact: true }).fill('07:00')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await differences.getByText('22:00–07:00').waitFor()
    await differences.getByText('22:00–06:30').waitFor()
    // What was not touched here is theirs already.
    expect(await differences.getByText('Tokyo').count()).toBe(0)
    expect(await findings()).toEqual([])
    await differences.getByRole('button', { name: 'Take theirs' }).click()
    await page.getByRole('button', { name: /Asia\/Tokyo/ }).waitFor()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('06:30')
    await elsewhere.query(save, { input: { timeZone: 'UTC' } })
    await page.getByRole('button', { name: 'Use this time zone' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await differences.getByRole('button', { name: 'Keep mine' }).press('Enter')
    await expect.poll(() => differences.count()).toBe(0)
    await expect
      .poll(
        async () =>
          (await elsewhere.query<{ notificationPreferences: { timeZone: string } }>('{ notificationPreferences { timeZone } }')).notificationPreferences
            .timeZone,
      )
      .toBe('Europe/Berlin')

    const dialog = page.getByRole('dialog')
    const addRule = async (app: string, kind: string) => {
      await page.getByRole('button', { name: 'Add rule' }).click()
      await dialog.getByRole('button', { name: /App$/ }).click()
      await page.getByRole('option', { name: app }).click()
      await dialog.getByRole('button', { name: /What happened$/ }).click()
      await page.getByRole('option', { name: kind }).click()
      await dialog.getByLabel('By mail').check()
      await dialog.getByRole('button', { name: 'Add rule' }).click()
      await page.locator('[data-rule]', { hasText: `${app} · ${kind}` }).waitFor()
    }
    await addRule('Payments', 'Order paid')
    await addRule('Publishing', 'Post failed')
    expect(await findings()).toEqual([])
    const rules = () => page.locator('[data-rule] .clip').allInnerTexts()
    await page.getByRole('button', { name: 'Move up: Publishing · Post failed' }).press('Enter')
    await expect.poll(rules).toEqual(['Publishing · Post failed', 'Payments · Order paid'])
    // Whoever moves it by keys goes on with the same rule.
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Move down: Publishing · Post failed')
    await page.reload()
    await ready()
    await expect.poll(rules).toEqual(['Publishing · Post failed', 'Payments · Order paid'])
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('06:30')
    expect(await page.getByLabel('At', { exact: true }).inputValue()).toBe('17:15')
    await page.getByRole('button', { name: /Friday/ }).waitFor()
    await page.getByRole('button', { name: 'Change rule: Payments · Order paid' }).click()
    await dialog.getByLabel('As a notification in the launcher').uncheck()
    await dialog.getByRole('button', { name: 'Save rule' }).click()
    await page.locator('[data-rule="payments order.paid"]').getByText('by mail', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove rule: Publishing · Post failed' }).click()
    await expect.poll(rules).toEqual(['Payments · Order paid'])
    expect(await violations()).toEqual([])
  })

  it('sends a digest at once, says what it has, and when the next one may follow', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    await enter(`${web.launcher}/settings/notifications`, 'member@demo.test')
    const region = page.locator('section', { hasText: 'Digest now' })
    const send = region.getByRole('button', { name: 'Send digest now' })
    // What found no way is tried again with the same key.
    const keys: unknown[] = []
    await page.route('**/graphql', async route => {
      if (!/SendDigest/.test(route.request().postData() ?? '')) return route.fallback()
      keys.push(route.request().postDataJSON().variables.input.idempotencyKey)
      await region.getByText('Your digest is being put together.').waitFor()
      return keys.length === 1 ? route.abort() : route.fallback()
    })
    await send.press('Enter')
    await region.getByRole('alert').waitFor()
    await send.press('Enter')
    await region
      .getByRole('status')
      .getByText(/^Your digest is on its way: \d+ things? waits? for you, \d+ notifications? (?:is|are) unread\.$/)
      .waitFor()
    expect(keys).toEqual([keys[0], keys[0]])
    expect(await findings()).toEqual([])
    const mails = async () => {
      const answer = await fetch(`${web.demo().sandbox}/_control/received?network=smtp&to=member@demo.test`)
      const received = (await answer.json()) as { readonly headers?: Readonly<Record<string, string>> }[]
      return received.filter(({ headers }) => headers?.['x-supergraph-mail'] === 'digest').length
    }
    await expect.poll(mails, { timeout: 15_000 }).toBe(1)
    for (let sent = 1; sent < 6; sent += 1) {
      await send.press('Enter')
      await expect.poll(() => keys.length).toBe(sent + 2)
      await region
        .getByRole('status')
        .getByText(/^Your digest is on its way/)
        .waitFor()
    }
    await send.press('Enter')
    await region.getByText(/^You had six digests within an hour\. Send the next one in (?:a|\d+) minutes?\.$/).waitFor()
    expect(await findings()).toEqual([])
    expect(await violations()).toEqual([])
  })

  it('turns messages of one browser on and off, and shows what is pushed to it', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, ready, violations } = await web.visit({ permissions: ['notifications'], reducedMotion: 'reduce' })
    const { subscription } = openPushBrowser(web.demo().sandbox, 'journey')
    // A browser without a network has no push service: it answers as one would, and everything else is its own.
    await page.addInitScript(`
      const given = ${JSON.stringify(subscription)}
      const made = () => ({ toJSON: () => ({ endpoint: given.endpoint, keys: { p256dh: given.p256dh, auth: given.auth } }), unsubscribe: async () => (localStorage.removeItem('test.push'), true) })
      PushManager.prototype.getSubscription = async () => (localStorage.getItem('test.push') ? made() : null)
      PushManager.prototype.subscribe = async ({ applicationServerKey }) => (localStorage.setItem('test.push', applicationServerKey), made())
    `)
    await enter(`${web.launcher}/settings/notifications`)
    await page.getByRole('button', { name: 'Turn on messages in this browser' }).click()
    await page.getByText('On in this browser').waitFor()
    // The key of 65 bytes with which the platform signs.
    expect(await page.evaluate('localStorage.getItem("test.push")')).toMatch(/^[\w-]{87}$/)
    await page.reload()
    await ready()
    await page.getByText('On in this browser').waitFor()

    const devtools = await page.context().newCDPSession(page)
    const registered = new Promise<string>(resolve => {
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations[0] && resolve(registrations[0].registrationId))
    })
    await devtools.send('ServiceWorker.enable')
    const data = JSON.stringify({ id: 'one', kind: 'POST_FAILED', title: 'A post failed', url: `${web.launcher}/actions` })
    // A worker that is only starting drops it; a message with the same tag takes the place of the one before.
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    const shown = async () => {
      await devtools.send('ServiceWorker.deliverPushMessage', { origin: web.launcher, registrationId: await registered, data })
      return page.evaluate(
        'navigator.serviceWorker.ready.then(each => each.getNotifications()).then(all => all.map(each => [each.tag, each.title, each.data]))',
      )
    }
    await expect.poll(shown).toEqual([['one', 'A post failed', `${web.launcher}/actions`]])

    await page.getByRole('button', { name: 'Turn off messages' }).click()
    await page.getByRole('button', { name: 'Turn on messages in this browser' }).waitFor()
    expect(await page.evaluate('localStorage.getItem("test.push")')).toBe(null)
    expect(await violations()).toEqual([])
  })

  it('shows managers what is paid for, changes and gives seats, and buys a bundle at the processor', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    const dialog = page.getByRole('dialog')
    await enter(`${web.launcher}/settings/billing`)
    await page.getByText('Your plan has all apps of the platform.').waitFor()
    await page.getByText('5 of 50 in use').first().waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Change number of seats' }).click()
    await dialog.getByLabel('Number of seats', { exact: true }).fill('4')
    await dialog.getByText('More seats are taken.').waitFor()
    await dialog.getByLabel('Number of seats', { exact: true }).fill('60')
    await dialog.getByText('$2,940.00').first().waitFor()
    expect(await findings()).toEqual([])
    await dialog.getByRole('button', { name: 'Change to 60 seats' }).click()
    await page.getByText('5 of 60 in use').first().waitFor()
    await page.getByRole('button', { name: 'Release seat: Mia Member' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Release seat' }).click()
    await page.getByText('4 of 60 in use').first().waitFor()
    expect(await page.locator('[data-seat]', { hasText: 'Mia Member' }).count()).toBe(0)
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: /Mia Member/ }).waitFor()
    await page.getByRole('button', { name: 'Assign seat' }).click()
    await page.locator('[data-seat]', { hasText: 'Mia Member' }).waitFor()
    await page.getByRole('button', { name: 'Open billing portal' }).click()
    await page.waitForURL(url => url.pathname.includes('/portal/'))

    const member = await web.visit()
    await member.enter(`${web.launcher}/settings/billing`, 'member@demo.test')
    await member.page.getByText('owners and admins of the organization may open it').waitFor()
    expect(await member.findings()).toEqual([])
    // In personal context everybody pays for themselves.
    await member.page.goto(`${web.launcher}/settings/households`)
    await member.page.getByRole('button', { name: 'Switch to personal context' }).click()
    await member.page.getByRole('region', { name: 'Demo Home' }).waitFor()
    await member.page.getByRole('link', { name: 'Billing' }).click()
    await member.page.getByText('You have no plan yet.').waitFor()
    expect(await member.findings()).toEqual([])
    await member.page.getByRole('button', { name: 'Choose plan' }).click()
    await member.page.getByRole('dialog').getByText('$15.00').first().waitFor()
    expect(await member.findings()).toEqual([])
    await member.page.getByRole('button', { name: 'Go to checkout' }).click()
    await member.page.waitForURL(url => url.pathname.includes('/checkout/'))
    await member.page.getByRole('link', { name: 'Pay', exact: true }).click()
    await member.page.getByText('Your plan has three apps of the platform.').waitFor()
    expect(new URL(member.page.url()).pathname).toMatch(/\/settings\/billing$/)
    expect([...(await violations()), ...(await member.violations())]).toEqual([])
  })
})
