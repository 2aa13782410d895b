// Sign-in for a service that somebody opens who is signed in already: the form is sent as if they had pressed the button.
document.querySelector('button[name=goOn]')?.click()
