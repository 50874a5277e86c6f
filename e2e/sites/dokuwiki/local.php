<?php
$conf['title'] = 'Team wiki';
$conf['savedir'] = getenv('DOKUWIKI_FOLDER') . '/data';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['disableactions'] = 'register,resendpwd';
$conf['subscribers'] = 1;
$conf['updatecheck'] = 0;
@include DOKU_CONF . 'local.protected.php';
