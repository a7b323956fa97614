// The fixed parts of the script that sets up etcd's users, in the language of sh. auth-script.ts puts between them what differs
// from stack to stack: settings behind the head, and `begin USER…`, `user NAME …`, `finish` at the end.

export const HEAD = String.raw`#!/bin/sh
# Brings etcd's users, roles and permissions to what the stack file says and turns authentication on. What is right
# already is left alone, so this may run at any time, and again after it was interrupted. The role of a user of the stack is
# called holdfast-USER; roles of other names, and users without such a role, are left alone. Only a new cluster must have none.
set -eu
umask 077
PATH=/usr/bin:/bin
`

export const COMMON = String.raw`
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# EX_CONFIG: trying again does not help.
refuse() {
  printf '%s\n' "$*" >&2
  exit 78
}

# Calls about users have no deadline of their own. In the foreground, it ends together with this script.
ctl() { timeout --foreground 20 etcdctl "$@"; }

# listed LINES LINE
listed() { printf '%s\n' "$1" | grep -Fqx -e "$2"; }

# Waits until etcd answers; fails if it refuses the password.
reach() {
  for pause in 0.1 0.2 0.2 0.3 0.3 0.5 0.5 1 1 2 2 3 3 5 5 5; do
    answer=$(ctl user list 2>&1) && return
    case $answer in *'authentication failed'*) return 1 ;; esac
    sleep "$pause"
  done
  fail "etcd does not answer: $answer"
}

roles_of() {
  answer=$(ctl user get "$1" -w json) || return
  printf '%s\n' "$answer" | sed -n 's/.*"roles":\[\(.*\)\].*/\1/p' | tr -d '"' | tr , '\n'
}

# As JSON, one in each line.
permissions_of() {
  answer=$(ctl role get "$1" -w json) || return
  printf '%s\n' "$answer" | sed -n 's/.*"perm":\[\(.*\)\].*/\1/p' | sed 's/},{/}\n{/g'
}

# field NAME JSON; AA== is a zero byte, which stands for one end of all keys or the other, and is no argument.
field() {
  value=$(printf '%s\n' "$2" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p")
  [ "$value" = AA== ] || printf '%s' "$value" | base64 -d
}

revoke() {
  key=$(field key "$2")
  case $2 in
    *'"range_end":"AA=="'*) ctl role revoke-permission --from-key -- "$1" "$key" ;;
    *'"range_end"'*) ctl role revoke-permission -- "$1" "$key" "$(field range_end "$2")" ;;
    *) ctl role revoke-permission -- "$1" "$key" ;;
  esac
}

# permit ROLE PERMISSIONS [ACCESS PREFIX]...: first what is missing, then what is too much, so that no client is shut out.
permit() {
  role=$1 wanted=$2
  shift 2
  held=$(permissions_of "$role")
  [ "$held" != "$wanted" ] || return 0
  while [ $# -gt 0 ]; do
    ctl role grant-permission --prefix -- "$role" "$1" "$2"
    shift 2
  done
  held=$(permissions_of "$role")
  printf '%s\n' "$held" | while read -r permission; do
    [ -z "$permission" ] || listed "$wanted" "$permission" || revoke "$role" "$permission"
  done
}

grant() {
  granted=$(roles_of "$1")
  listed "$granted" "$2" || ctl user grant-role "$1" "$2"
}

# The role comes before the user: should this be interrupted, it shows who made the user.
user() {
  name=$1 own=holdfast-$1
  shift
  ours="$ours $own "
  listed "$roles" "$own" || ctl role add "$own"
  permit "$own" "$@"
  provide "$name"
  grant "$name" "$own"
}

# A user that was given another role stays, with that role only.
remove_others() {
  for role in $(printf '%s\n' "$roles" | grep '^holdfast-'); do
    case $ours in *" $role "*) continue ;; esac
    name=${'$'}{role#holdfast-}
    if listed "$users" "$name"; then
      granted=$(roles_of "$name")
      [ -n "$granted" ] && [ "$granted" != "$role" ] || ctl user delete "$name"
    fi
    ctl role delete "$role"
  done
}

# Whether it takes every client, as it does before authentication is enabled: then no password is checked.
is_open() (
  unset ETCDCTL_PASSWORD
  ETCDCTL_USER=no-such-user:no-such-password
  export ETCDCTL_USER
  answer=$(ctl user list 2>&1) && return
  case $answer in *'authentication failed'*) return 1 ;; esac
  fail "etcd does not answer: $answer"
)

# foreign USER...: what there is besides these users and their roles, one in each line.
foreign() {
  printf '%s\n' "$users" | while read -r name; do
    [ -n "$name" ] || continue
    own=holdfast-$name
    [ "$name" != root ] || own=root
    case " root $* " in *" $name "*) ;; *) listed "$roles" "$own" || printf 'user %s\n' "$name" ;; esac
    granted=$(roles_of "$name") || exit
    printf '%s\n' "$granted" | while read -r role; do
      [ "$role" = "$own" ] || [ -z "$role" ] || printf 'role %s of user %s\n' "$role" "$name"
    done
  done || return
  printf '%s\n' "$roles" | while read -r role; do
    case $role in '' | root | holdfast-*) ;; *) printf 'role %s\n' "$role" ;; esac
  done
  printf '%s\n' "$keys" | while IFS= read -r key; do
    [ -z "$key" ] || is_expected "$key" || printf 'key %s\n' "$key"
  done
}

# Services of a stack that lost its etcd write their keys as soon as there is one again; before the first one, no key is expected.
is_expected() {
  [ -e "$enabled" ] || return
  while IFS= read -r prefix; do
    [ -n "$prefix" ] || continue
    case =$1 in "$prefix"*) return ;; esac
  done <<END
$writable
END
  return 1
}

# Until now every client could do everything: what one has made must not stay.
refuse_foreign() {
  keys=$(ctl get '' --prefix --keys-only -w fields)
  keys=$(printf '%s\n' "$keys" | sed -n 's/^"Key" : "\(.*\)"$/\1/p')
  found=$(foreign "$@")
  [ -n "$found" ] || return 0
  found=$(printf '%s\n' "$found" | tr -cd '[:print:]\n' | cut -c 1-100 | head -n 10 | paste -s -d ';' | sed 's/;/; /g')
  # PostgreSQL may still have its data, so the hint does not name --purge.
  [ ! -e "$enabled" ] || refuse 'Cannot enable authentication: etcd was formed again, or authentication was disabled,' \
    "and etcd has what this stack did not make: $found;" \
    'expected only keys that users of the stack may write; remove the rest with etcdctl'
  refuse "Cannot enable authentication: etcd is new and has what this stack did not make: $found;" \
    'expected nothing; remove it with etcdctl, or the whole stack with "holdfast down --purge"'
}

# Whether authentication was enabled with the data that etcd has now. Older versions made only $enabled; it is about this data if
# it is newer than etcd's log. etcd touches its directories at each start, so the time of creation counts.
is_checked() {
  [ ! -e "$checked" ] || return 0
  [ -e "$enabled" ] || return 1
  created=$(stat -c %W "${'$'}{checked%/*}/wal") && [ "$created" -gt 0 ] && [ "$(stat -c %Y "$enabled")" -gt "$created" ]
}

# begin USER...
begin() {
  ours=
  log_in
  open=no
  ! is_open || open=yes
  users=$(ctl user list)
  roles=$(ctl role list)
  if [ $open = yes ] && ! is_checked; then refuse_foreign "$@"; fi
}

finish() {
  remove_others
  enable
  : >"$enabled"
  : >"$checked"
  echo 'users, roles and permissions are as they should be'
}
`

export const BY_CERTIFICATE = String.raw`
log_in() { reach || fail "etcd refuses root's certificate: $answer"; }

provide() { listed "$users" "$1" || ctl user add "$1" --no-password; }

enable() {
  provide root
  grant root root
  ctl auth enable
}
`

export const BY_PASSWORD = String.raw`
export ETCDCTL_USER=root ETCDCTL_PASSWORD

# With the expected password, or with one that root may have had before: each is kept before it is set.
log_in() {
  ETCDCTL_PASSWORD=$(cat "$auth/root.password")
  reach || log_in_as_before
}

log_in_as_before() {
  [ ! -e "$kept" ] || while read -r ETCDCTL_PASSWORD; do
    reach || continue
    keep
    set_password root
    ETCDCTL_PASSWORD=$(cat "$auth/root.password")
    return
  done <"$kept"
  fail 'etcd refuses the password of root, and those it had before'
}

keep() { cat "$auth/root.password" >>"$kept"; }

set_password() { ctl user passwd "$1" --interactive=false <"$auth/$1.password"; }

logs_in() (
  ETCDCTL_USER=$1
  ETCDCTL_PASSWORD=$(cat "$auth/$1.password")
  ctl user get "$1" >/dev/null 2>&1
)

provide() {
  if ! listed "$users" "$1"; then
    ctl user add "$1" --interactive=false <"$auth/$1.password"
  elif [ $open = yes ] || ! logs_in "$1"; then
    set_password "$1"
  fi
}

enable() {
  if [ $open = yes ]; then
    keep
    provide root
    grant root root
    ctl auth enable
  fi
  cp "$auth/root.password" "$kept.new"
  mv "$kept.new" "$kept"
}
`
