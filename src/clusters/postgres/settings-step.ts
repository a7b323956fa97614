// The step that brings what members share to what is wanted: settings in etcd through Patroni's REST API, and roles
// (roles-step.ts). It is in Python, which is there wherever Patroni is.
//
// A new cluster has short loops so that it is complete soon; the step waits for that before it sets the wanted ones. And
// it ends only when members have taken up what it changed: from then on they say whether a restart is needed for it.

import { BOOTSTRAP_STEP } from './bootstrap-step.ts'
import { ROLES_STEP } from './roles-step.ts'

export const SETTINGS_STEP = String.raw`"""Brings what the members of a Patroni cluster share to what files say.

Usage: apply-settings.py PATRONI_YML SETTINGS ROLES
Nothing is done when all is as wanted. PostgreSQL's parameters that the file does not have are removed; other settings
that it does not have stay.
"""
import base64
import hashlib
import hmac
import json
import os
import re
import ssl
import stringprep
import subprocess
import sys
import time
import unicodedata
import urllib.request

LOOK_SECONDS = 0.3
LEADER_SECONDS = 120
# For the members to become complete; one that cannot must not keep the settings from the others.
COMPLETE_SECONDS = 60
TAKE_UP_SECONDS = 20
# To try again is of no use (EX_CONFIG of sysexits.h).
REFUSED_EXIT = 78
# What PostgreSQL says of parameters that it has, but no session can set.
NOT_FOR_SESSIONS = re.compile('cannot be (changed|set)')
# Patroni reloads PostgreSQL and looks a second later which parameters wait for a restart.
RELOAD_SECONDS = 2


class Api:
    def __init__(self, config):
        restapi, ctl = config['restapi'], config['ctl']
        self.url = 'https://' + restapi['connect_address']
        self.context = ssl.create_default_context(cafile=ctl['cacert'])
        self.context.load_cert_chain(ctl['certfile'], ctl['keyfile'])
        login = '{username}:{password}'.format(**restapi['authentication'])
        self.authorization = 'Basic ' + base64.b64encode(login.encode()).decode()

    def call(self, method, path, body=None, url=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {'Authorization': self.authorization}
        request = urllib.request.Request((url or self.url) + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10, context=self.context) as response:
            return json.load(response)

    def members(self):
        return self.call('GET', '/cluster')['members']


def retry(seconds, attempt):
    """Until it returns something true; what it raises is raised when the time is up."""
    deadline = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() > deadline
        try:
            result = attempt()
            if result or is_last:
                return result
        except (OSError, ValueError, subprocess.SubprocessError):
            if is_last:
                raise
        time.sleep(LOOK_SECONDS)


def is_complete(members, settings):
    roles = [member['role'] for member in members]
    standbys = settings['synchronous_node_count'] if settings['synchronous_mode'] else 0
    return (
        'leader' in roles
        and all(member['state'] in ('running', 'streaming') for member in members)
        and sum(role in ('sync_standby', 'quorum_standby') for role in roles) >= min(standbys, len(members) - 1)
    )


def difference(current, wanted, removes=False):
    patch = {key: None for key in current if removes and key not in wanted}
    for key, value in wanted.items():
        if isinstance(value, dict):
            nested = difference(current.get(key) or {}, value, key == 'parameters')
            if nested:
                patch[key] = nested
        elif current.get(key) != value:
            patch[key] = value
    return patch


def wait_for_reload(api, config):
    urls = [member['api_url'].removesuffix('/patroni') for member in api.members()]
    retry(TAKE_UP_SECONDS, lambda: all(api.call('GET', '/config', url=url) == config for url in urls))
    time.sleep(RELOAD_SECONDS)

${BOOTSTRAP_STEP}
${ROLES_STEP}

def refused_parameter(api, postgresql, roles, parameters):
    """What PostgreSQL says of the first that it does not take: Patroni leaves it out, and tells only its log."""
    leader = next(member for member in api.members() if member['role'] == 'leader')
    server = Server(postgresql, leader)
    superuser = log_in(server, roles)
    for name, value in parameters.items():
        quoted = ("'" + str(text).replace("'", "''") + "'" for text in (name, value))
        said = server.run(*superuser, 'BEGIN; SELECT set_config({}, {}, true); ROLLBACK'.format(*quoted)).stderr
        if 'ERROR' in said and not NOT_FOR_SESSIONS.search(said):
            return said.splitlines()[0].split('ERROR:')[-1].strip()
    return None


def load(path):
    with open(path) as file:
        return json.load(file)


def main(patroni_file, settings_file, roles_file):
    # Written as JSON, which is YAML.
    patroni, settings, roles = load(patroni_file), load(settings_file), load(roles_file)
    api, postgresql, bootstrap = Api(patroni), patroni['postgresql'], Bootstrap(patroni, settings)
    if not retry(LEADER_SECONDS, lambda: set_roles(api, postgresql, roles) or bootstrap.look()):
        sys.exit('Cannot apply the settings of the cluster: it has no leader')
    wanting = lambda: difference(api.call('GET', '/config'), settings)
    retry(COMPLETE_SECONDS, lambda: is_complete(api.members(), settings) or not wanting())
    # A failover meanwhile may have undone it.
    retry(TAKE_UP_SECONDS, lambda: set_roles(api, postgresql, roles) and is_taken(api, postgresql, roles))
    refused = refused_parameter(api, postgresql, roles, settings['postgresql']['parameters'])
    if refused:
        print('Cannot apply the settings of the cluster: ' + refused, file=sys.stderr)
        sys.exit(REFUSED_EXIT)
    patch = wanting()
    if not patch:
        return print('Settings of the cluster are as wanted')
    config = api.call('PATCH', '/config', patch)
    if 'postgresql' in patch:
        wait_for_reload(api, config)
    print('Settings of the cluster changed: ' + json.dumps(patch))


try:
    main(*sys.argv[1:])
except (OSError, ValueError, subprocess.SubprocessError) as error:
    sys.exit('Cannot apply the settings of the cluster: {}'.format(error))
`
